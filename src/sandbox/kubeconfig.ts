import { isJsonObject, type Json } from '../codec/json.ts';
import { parseYaml } from '../codec/yaml.ts';

/** The kubeconfig of a sandbox: one context, `sandbox`, whose user holds the admin's token. YAML text. */
export function kubeconfigText(options: { url: string; caPem: string; token: string }): string {
  const ca = Buffer.from(options.caPem, 'utf8').toString('base64');
  return `apiVersion: v1
kind: Config
current-context: sandbox
clusters:
- name: sandbox
  cluster:
    server: ${options.url}
    certificate-authority-data: ${ca}
contexts:
- name: sandbox
  context:
    cluster: sandbox
    user: sandbox-admin
    namespace: default
users:
- name: sandbox-admin
  user:
    token: ${options.token}
`;
}

/** Whether a text is a kubeconfig that a sandbox wrote, and nothing has been added to it: another sandbox's may replace it. */
export function isSandboxKubeconfig(text: string): boolean {
  const { value } = parseYaml(text);
  if (!isJsonObject(value)) return false;
  const isOnly = (list: Json | undefined, name: string): boolean =>
    Array.isArray(list) && list.length === 1 && isJsonObject(list[0]) && list[0]['name'] === name;
  const { clusters, contexts, users } = value;
  if (!isOnly(clusters, 'sandbox') || !isOnly(contexts, 'sandbox') || !isOnly(users, 'sandbox-admin')) return false;
  return /^    server: https:\/\/127\.0\.0\.1:\d+$/m.test(text);
}
