export { simulate, steady, type Simulation } from './simulate.js';
export { take, UNUSED, WINDOW_MS, type Window, type Windows } from './windows.js';
