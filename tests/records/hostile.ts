import { expect } from 'bun:test'
import { EVERY_TYPE } from './every-type.ts'
import { type Bench, createBench, dump, type TestTable } from './support.ts'

/*
 * What a program can send that nobody should: none of it may be answered with a 5xx, and none of it may
 * change what is stored, unless it is a write that says what it means.
 */

export interface Sent {
  method?: string
  path: string
  body?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

export type Target = Awaited<ReturnType<typeof createTarget>>

/** A server with a table of every field type, and ways to send it what it should refuse. */
export async function createTarget() {
  const bench: Bench = await createBench()
  const table: TestTable = await bench.table(EVERY_TYPE, [
    { Title: 'first', Num: 1 },
    { Title: 'second', Num: 2 },
  ])
  let state = await dump(bench)

  /** Sends as it stands, and gives the status; fails where the server failed. */
  async function send({ method = 'GET', path, body, headers = {} }: Sent): Promise<number> {
    const answer = await fetch(`${bench.app.url}${path}`, {
      method,
      body,
      headers: {
        'xc-auth': bench.owner.token,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    })
    const text = await answer.text()
    if (answer.status >= 500) {
      throw new Error(
        `${method} ${path.slice(0, 200)} ${String(body).slice(0, 200)}: ${answer.status} ${text}`,
      )
    }
    // What the server says of it must not be of its own making: SQL, stack traces, paths.
    expect(text).not.toMatch(/SQLITE|syntax error|node_modules|\.ts:\d|at <anonymous>/)
    return answer.status
  }

  return {
    bench,
    table,
    send,
    /** Sends what must be refused. */
    async refused(sent: Sent): Promise<void> {
      const status = await send(sent)
      const shown = [sent.path.slice(0, 100), String(sent.body).slice(0, 100)]
      expect([...shown, status >= 400]).toEqual([...shown, true])
    },
    /** Holds what is stored against what it was. */
    unchanged: async () => expect(await dump(bench)).toEqual(state),
    /** From now on it is to stay as it is now. */
    async remember(): Promise<void> {
      state = await dump(bench)
    },
    /** Method and path of every call that writes. */
    writes(): [method: string, path: string][] {
      const v1 = `${bench.baseId}/${table.id}`
      return [
        ['POST', table.path],
        ['PATCH', table.path],
        ['PUT', table.path],
        ['DELETE', table.path],
        ['POST', `/api/v1/db/data/noco/${v1}`],
        ['PATCH', `/api/v1/db/data/noco/${v1}/1`],
        ['POST', `/api/v1/db/data/bulk/noco/${v1}`],
        ['PATCH', `/api/v1/db/data/bulk/noco/${v1}`],
        ['DELETE', `/api/v1/db/data/bulk/noco/${v1}`],
        ['POST', `/api/v1/db/data/bulk/noco/${v1}/upsert`],
        ['PATCH', `/api/v1/db/data/bulk/noco/${v1}/all`],
      ]
    },
  }
}

/** Texts that mean something to a database, to JavaScript or to a terminal. */
export const SQL_TEXTS = [
  `'`,
  `"`,
  `";drop table sheaf_changes;--`,
  `'; delete from sheaf_changes; --`,
  `1) or (1=1`,
  `" or 1=1 --`,
  '`',
  '\\',
  '%',
  '$1',
  '?',
  ':a',
  '@a',
  '[x]',
  'null',
  '\u0000',
  '\u0001key',
  '\u202e',
  '\ud800',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'x'.repeat(5_000),
]
