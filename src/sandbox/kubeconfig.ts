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
