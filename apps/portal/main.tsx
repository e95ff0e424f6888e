import { render } from 'preact';
import { App } from './app.js';
import './theme.js';

const root = document.getElementById('app');
// What it says is for browsers that could not load this script.
root?.replaceChildren();
if (root !== null) render(<App />, root);
