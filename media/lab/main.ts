import { connectHost } from '../common/host.ts';
import { LabApp } from './app.ts';

const root = document.getElementById('app');
if (root !== null) new LabApp(connectHost(), root).start();
