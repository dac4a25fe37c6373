import { render } from 'solid-js/web';
import './theme.css';
import './base.css';
import { App } from './app.tsx';
import { connectLab } from './lab-client.ts';
import { watchLongTasks } from './long-tasks.ts';
import { restoreTheme } from './theme.ts';

restoreTheme();
watchLongTasks();
render(() => <App lab={connectLab()} />, document.getElementById('app')!);
