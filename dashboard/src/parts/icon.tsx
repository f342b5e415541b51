const PATHS = {
  overview: 'M3 10.5 10 4l7 6.5M5 9.5V16h10V9.5',
  errors:
    'M10 6.5v4.2M10 13.6v.1M8.6 3.5 2.4 14.3A1.6 1.6 0 0 0 3.8 16.7h12.4a1.6 1.6 0 0 0 1.4-2.4L11.4 3.5a1.6 1.6 0 0 0-2.8 0Z',
  workflows: 'M4 4h4v4H4zM12 12h4v4h-4zM6 8v3.2A2.8 2.8 0 0 0 8.8 14H12',
  runs: 'M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8.5 7.5v5l4-2.5z',
  webhooks:
    'M6.5 12.5a3 3 0 1 1-2.6-4.4M13 12a3 3 0 1 1-.6 4.1M9 5.2a3 3 0 1 1 4.2 2.7M10 6.5 6.8 13M13 14H7.2M12.2 8l2 4',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4',
  docs: 'M5 3.5h8l2.5 2.5v10.5h-10.5zM7.5 8h5M7.5 11h5M7.5 14h3',
  check: 'm4.5 10.5 3.5 3.5 7.5-8',
  bell: 'M5.5 13.5h9l-1-1.8V8.5a3.5 3.5 0 0 0-7 0v3.2zM8.5 15.5a1.6 1.6 0 0 0 3 0M4 3.5l12 13',
  replay: 'M4.5 10a5.5 5.5 0 1 0 1.7-4M4 3.5v3h3',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM13 13l3.5 3.5',
  copy: 'M7 7V4.5A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.5v7a1.5 1.5 0 0 1-1.5 1.5H13M4.5 7h7A1.5 1.5 0 0 1 13 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 15.5v-7A1.5 1.5 0 0 1 4.5 7Z',
  download: 'M10 3.5v9M6.5 9.5 10 13l3.5-3.5M4 16.5h12',
  back: 'M12.5 4.5 7 10l5.5 5.5',
  down: 'm5 8 5 5 5-5',
  out: 'M8 4H4.5v12H8M8.5 10H17M14 7l3 3-3 3',
  theme: 'M10 4a6 6 0 1 0 0 12zM10 4a6 6 0 0 1 0 12',
  key: 'M12.5 4a3.5 3.5 0 1 1-3.1 5.1L4 14.5V17h3v-2h2v-2l1.5-1.5M13.5 7h.01',
  store:
    'M4 6c0-1.4 2.7-2.5 6-2.5S16 4.6 16 6s-2.7 2.5-6 2.5S4 7.4 4 6ZM4 6v8c0 1.4 2.7 2.5 6 2.5s6-1.1 6-2.5V6M4 10c0 1.4 2.7 2.5 6 2.5s6-1.1 6-2.5',
  heartbeat: 'M2.5 10.5h4l2-5 3 9 2-4h4',
  more: 'M4.7 10h.8M9.6 10h.8M14.5 10h.8',
  menu: 'M3.5 6h13M3.5 10h13M3.5 14h13',
  sources: 'M4 10a6 6 0 0 1 6-6M4 10a6 6 0 0 0 6 6M10 10h7M14 7l3 3-3 3',
  subscriptions:
    'M6.5 5.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0ZM6.5 14.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0ZM17.5 10a2 2 0 1 1-4 0 2 2 0 0 1 4 0ZM6.5 6l7 3.2M6.5 14l7-3.2',
  notices: 'M5.5 13.5h9l-1-1.8V8.5a3.5 3.5 0 0 0-7 0v3.2zM8.5 15.5a1.6 1.6 0 0 0 3 0',
  trash: 'M4 6h12M8 6V4h4v2M5.5 6l.7 10h7.6l.7-10',
  mail: 'M3 5h14v10H3zM3.5 5.5 10 11l6.5-5.5',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a text: it says nothing by itself. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
