import { render } from 'preact';
import '../theme.js';
import { App } from './app.js';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
