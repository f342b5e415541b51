const DEFAULT_MAX = 50;
const SIGNATURE_HEADER = 'x-acme-signature';

export default {
  DEFAULT_MAX,
  SIGNATURE_HEADER,
};
