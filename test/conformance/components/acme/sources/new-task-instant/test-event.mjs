export default {
  id: '1',
  name: 'A task',
};
