import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

/** Ports below those from which the system takes the ends of outgoing connections. */
const FIRST = 15_000
const COUNT = 12_000

let next = process.pid * 97

/**
 * A TCP port of 127.0.0.1 that nothing uses. A server may close it and listen again later: no outgoing connection takes it meanwhile,
 * and each process begins elsewhere.
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT)
    if (port < firstEphemeral() && (await isFree(port))) return port
  }
  throw new Error('No port is free')
}

/** The first port of outgoing connections. */
function firstEphemeral(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t')[0])
  } catch {
    return 49_152 // As other systems have it.
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
