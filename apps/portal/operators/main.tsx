import { render } from 'preact';
import '../theme.js';
import { App } from './app.js';

const root = document.getElementById('app');
// What it says is for browsers that could not load this script.
root?.replaceChildren();
if (root !== null) render(<App />, root);
