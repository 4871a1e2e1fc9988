import { createRestClient, createTrpcClient } from '../support/client.ts'
import { load } from './processes.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'

const BASES = 8
const RECORDS = 100
/** The least share of the writes that as many clients make in one base, where they share commits. */
const PROMISE = 1 / 2

/** Eight clients that each change a record in a base of their own, and then all in one base, in turn. */
export async function measureManyBases(product: Product, rounds: number, seconds: number): Promise<Line> {
  const url = `http://127.0.0.1:${product.port}`
  const trpc = createTrpcClient(url, product.session)
  const rest = createRestClient(url, product.session)
  const paths: string[] = []
  for (let at = 0; at < BASES; at++) {
    const base = await trpc.bases.create.mutate({ title: `Base ${at}` })
    const { table } = await trpc.schema.createTable.mutate({
      baseId: base.id,
      title: 'Counters',
      fields: [{ title: 'Count', type: 'Number' }],
    })
    const path = `/api/v2/tables/${table.id}/records`
    const rows = Array.from({ length: RECORDS }, () => ({ Count: 0 }))
    const { status, body } = await rest.post(path, rows)
    if (status !== 200) throw new Error(`The table could not be filled: ${JSON.stringify(body)}`)
    paths.push(path)
  }
  const perSecond = async (path: string | string[]) => {
    const result = await load({
      port: product.port,
      connections: BASES,
      seconds,
      from: 0,
      headers: { 'xc-token': product.apiToken },
      method: 'PATCH',
      path,
      cycle: RECORDS,
      body: '{"Id":#r,"Count":#n}',
    })
    return result.requests / result.seconds
  }
  const measured: { many: number; one: number }[] = []
  for (let round = 0; round < rounds; round++) {
    measured.push({ many: await perSecond(paths), one: await perSecond(paths[0]!) })
  }
  const { many, one } = measured.toSorted((a, b) => a.many / a.one - b.many / b.one)[rounds >> 1]!
  return {
    work: `update one record in each of ${BASES} bases, ${BASES} clients`,
    result: `${(many / one).toFixed(2)} of the same in one base`,
    promise: `≥ ${PROMISE.toFixed(2)}`,
    holds: many / one >= PROMISE,
    detail: `${many.toFixed(0)}/s; ${one.toFixed(0)}/s`,
  }
}
