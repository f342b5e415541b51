const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
const FORMATS = UNITS.map(
  (unit) => new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }),
);

/** Returns an amount in the largest unit of which there is one: `1.4 MB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3);
  const at = Math.min(power, UNITS.length - 1);
  return (FORMATS[at] as Intl.NumberFormat).format(bytes / 1000 ** at);
}
