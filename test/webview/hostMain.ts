import { startTestHost } from './hostPage.ts';

startTestHost();
