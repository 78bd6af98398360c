import type { ServiceAllocator } from './kind.ts';

/** The range of cluster IPs, as messages name it. */
export const SERVICE_IPS = '10.0.0.0/24';
/** The range of node ports, as messages name it. */
export const NODE_PORTS = '30000-32767';

const PREFIX = '10.0.0.';
const FIRST_PORT = 30000;
const LAST_PORT = 32767;

/** The cluster IPs and node ports of one store. 10.0.0.1 is the API server's own. */
export function createServiceAllocator(): ServiceAllocator {
  const ips = new Set(['10.0.0.0', '10.0.0.1', '10.0.0.255']);
  const ports = new Set<number>();
  return {
    nextIp: () => {
      for (let host = 2; host < 255; host += 1) {
        const ip = `${PREFIX}${host}`;
        if (ips.has(ip)) continue;
        ips.add(ip);
        return ip;
      }
      return '';
    },
    takeIp: (ip) => {
      const host = ip.startsWith(PREFIX) ? Number(ip.slice(PREFIX.length)) : Number.NaN;
      if (!Number.isInteger(host) || host < 1 || host > 254) return 'out-of-range';
      if (ips.has(ip)) return false;
      ips.add(ip);
      return true;
    },
    releaseIp: (ip) => {
      if (ip !== '10.0.0.1') ips.delete(ip);
    },
    nextPort: () => {
      for (let port = FIRST_PORT; port <= LAST_PORT; port += 1) {
        if (ports.has(port)) continue;
        ports.add(port);
        return port;
      }
      return 0;
    },
    takePort: (port) => {
      if (port < FIRST_PORT || port > LAST_PORT) return 'out-of-range';
      if (ports.has(port)) return false;
      ports.add(port);
      return true;
    },
    releasePort: (port) => {
      ports.delete(port);
    },
  };
}
