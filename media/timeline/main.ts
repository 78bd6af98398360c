import { connectHost } from '../common/host.ts';
import { TimelineApp } from './app.ts';

const root = document.getElementById('app');
if (root !== null) new TimelineApp(connectHost(), root).start();
