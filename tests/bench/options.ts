import { parseArgs } from 'node:util'

/**
 * Reads the options of the benchmark's command line.
 *
 * @throws Error saying which one is wrong
 */
export function readOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string' },
      limits: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      against: { type: 'string' },
      account: { type: 'string', default: '' },
      idle: { type: 'string', default: '45' },
    },
  })
  for (const name of ['rows', 'rounds'] as const) {
    if (!/^[1-9]\d{0,8}$/.test(values[name] ?? '1')) throw new Error(`--${name} takes a whole number`)
  }
  for (const name of ['seconds', 'idle'] as const) {
    if (!/^\d+(\.\d+)?$/.test(values[name])) throw new Error(`--${name} takes a number of seconds`)
  }
  const { against, account } = values
  if (against !== undefined && !/^https?:/.test(URL.parse(against)?.protocol ?? ''))
    throw new Error('--against takes the address of a server, such as http://localhost:8080')
  if (against !== undefined && !/^[^:]+:./.test(account))
    throw new Error('--against needs an account on that server: --account EMAIL:PASSWORD')
  return values
}
