// Serves the real kube-apiserver of test/apiserver until interrupted: npm run apiserver -- --kubeconfig FILE
import { bootstrap } from './bootstrap.mjs';
await bootstrap(import.meta.url);
await import('../test/apiserver/serve.ts');
