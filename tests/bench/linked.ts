import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { FIELDS, makeRows } from './bare-table.ts'
import { cpuSeconds, load } from './processes.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'

const ROWS = 5_000
const CUSTOMERS = 500
const LABELS = 50

/** Columns of the wide table beside those of every bench table. */
const WIDE = { stored: 192, links: 15, lookups: 45, rollups: 24, formulas: 24 }
/** Most that each page may cost, in pages of the same records without what is computed. */
const PROMISES = { page: 4, wide: 50 }
const READERS = 20
/** Records that each request links, and the least rate of such requests, as a share of updates of one record. */
const LINKING = { records: 10, promise: 1 / 3 }
/** Records to link from: each request takes a new one, so that none of its links is there already. */
const CARTS = 60_000

type Trpc = ReturnType<typeof createTrpcClient>

/** What pages with computed fields cost, in pages of the same records without them. */
export async function measureLinked(product: Product, rounds: number, seconds: number): Promise<Line[]> {
  const trpc = createTrpcClient(`http://127.0.0.1:${product.port}`, product.session)
  const orders = await makeOrders(product, trpc)
  const wide = await makeWide(product, trpc, orders)
  const plainFields = FIELDS.map(({ title }) => title).join(',')
  const page = await compare(
    { product, rounds, seconds, connections: 8 },
    `${orders.path}?fields=${plainFields}`,
    orders.path,
  )
  const big = await compare(
    { product, rounds, seconds, connections: READERS },
    `${wide.path}?limit=100&fields=${wide.stored.join(',')}`,
    `${wide.path}?limit=100`,
  )
  return [
    await measureLinking(product, trpc, orders.labelsId, rounds, seconds),
    {
      work: 'list 25 linked records: 2 links, 3 lookups, a rollup, 3 formulas',
      result: `${page.ratio.toFixed(2)} × the plain page`,
      promise: promised(PROMISES.page),
      holds: page.ratio <= PROMISES.page,
      detail: page.detail,
    },
    {
      work: `list 100 records of ${wide.fields} fields, ${READERS} readers`,
      result: `${big.ratio.toFixed(2)} × its stored fields alone`,
      promise: promised(PROMISES.wide),
      holds: big.ratio <= PROMISES.wide,
      detail: `${WIDE.links} links, ${WIDE.lookups} lookups, ${WIDE.rollups} rollups, ${WIDE.formulas} formulas; ${big.detail}`,
    },
  ]
}

const promised = (ratio: number): string => `≤ ${ratio.toFixed(2)} ×`

interface Setting {
  product: Product
  rounds: number
  seconds: number
  connections: number
}

/** Both pages in turn, round by round, so that what else the machine does meets both alike. */
async function compare(
  { product, rounds, seconds, connections }: Setting,
  plain: string,
  computed: string,
): Promise<{ ratio: number; detail: string }> {
  const measure = async (path: string) => {
    const before = cpuSeconds(product.pid)
    const result = await load({
      port: product.port,
      connections,
      seconds,
      method: 'GET',
      path,
      from: 0,
      headers: { 'xc-token': product.apiToken },
    })
    const cpuMs = ((cpuSeconds(product.pid) - before) / result.requests) * 1000
    return { ms: (result.seconds / result.requests) * 1000, p99Ms: result.p99Ms, cpuMs }
  }
  type Measured = Awaited<ReturnType<typeof measure>>
  const measured: [Measured, Measured][] = []
  for (let round = 0; round < rounds; round++) measured.push([await measure(plain), await measure(computed)])
  const [without, having] = measured.toSorted((a, b) => a[1].ms / a[0].ms - b[1].ms / b[0].ms)[rounds >> 1]!
  const side = ({ ms, p99Ms, cpuMs }: Measured) =>
    `${ms.toFixed(2)} ms a page, ${cpuMs.toFixed(2)} ms cpu, p99 ${p99Ms.toFixed(1)} ms`
  return { ratio: having.ms / without.ms, detail: `with ${side(having)}; without ${side(without)}` }
}

/** The rate of requests that link ten records each, as a share of the rate of updates of one record, in turn. */
async function measureLinking(
  product: Product,
  trpc: Trpc,
  labelsId: string,
  rounds: number,
  seconds: number,
): Promise<Line> {
  const { table } = await trpc.schema.createTable.mutate({
    baseId: product.baseId,
    title: 'Carts',
    fields: [
      { title: 'Title', type: 'SingleLineText' },
      { title: 'Count', type: 'Number' },
    ] as never,
  })
  const fieldId = await adder(trpc, table.id)('Labels', 'Links', { kind: 'mm', relatedTableId: labelsId })
  await filler(product)(table.id, CARTS, (n) => ({ Title: `cart ${n}` }), 10_000)
  const api = `/api/v2/tables/${table.id}`
  const targets = Array.from({ length: LINKING.records }, (_, at) => ({ Id: at + 1 }))
  const requests = {
    link: { method: 'POST', path: `${api}/links/${fieldId}/records/#n`, body: JSON.stringify(targets) },
    update: { method: 'PATCH', path: `${api}/records`, body: '{"Id":#n,"Count":#n}' },
  }
  const sent = { link: 0, update: 0 }
  const perSecond = async (kind: keyof typeof requests) => {
    const result = await load({
      port: product.port,
      connections: 8,
      seconds,
      from: sent[kind],
      headers: { 'xc-token': product.apiToken },
      ...requests[kind],
    })
    sent[kind] += result.requests
    return result.requests / result.seconds
  }
  const measured: { link: number; update: number }[] = []
  for (let round = 0; round < rounds; round++)
    measured.push({ link: await perSecond('link'), update: await perSecond('update') })
  const { link, update } = measured.toSorted((a, b) => a.link / a.update - b.link / b.update)[rounds >> 1]!
  return {
    work: `add ${LINKING.records} links to a record, linked to nothing before`,
    result: `${(link / update).toFixed(2)} of updates of one record`,
    promise: `≥ ${LINKING.promise.toFixed(2)}`,
    holds: link / update >= LINKING.promise,
    detail: `${link.toFixed(0)}/s; updates ${update.toFixed(0)}/s; 8 connections`,
  }
}

/** Orders of customers, with labels: the bench table's fields, and what is computed beside them. */
async function makeOrders(product: Product, trpc: Trpc) {
  const { baseId } = product
  const table = async (title: string, fields: object[]) =>
    (await trpc.schema.createTable.mutate({ baseId, title, fields: fields as never })).table
  const text = { type: 'SingleLineText' }
  const customers = await table('Customers', [
    { title: 'Title', ...text },
    { title: 'Mail', type: 'Email' },
  ])
  const labels = await table('Labels', [
    { title: 'Title', ...text },
    { title: 'Weight', type: 'Number' },
  ])
  const orders = await table('Linked orders', FIELDS)
  const add = adder(trpc, orders.id)
  const customer = await add('Customer', 'LinkToAnotherRecord', { kind: 'bt', relatedTableId: customers.id })
  const labelled = await add('Labels', 'Links', { kind: 'mm', relatedTableId: labels.id })
  const [named, mail, label, weight] = await Promise.all([
    ...['Title', 'Mail'].map((title) => fieldId(trpc, customers.id, title)),
    ...['Title', 'Weight'].map((title) => fieldId(trpc, labels.id, title)),
  ])
  await add('Customer name', 'Lookup', { relationFieldId: customer, targetFieldId: named })
  await add('Customer mail', 'Lookup', { relationFieldId: customer, targetFieldId: mail })
  await add('Label names', 'Lookup', { relationFieldId: labelled, targetFieldId: label })
  await add('Weight', 'Rollup', { relationFieldId: labelled, targetFieldId: weight, function: 'sum' })
  await add('Total', 'Formula', { formula: '{Count} * 2 + {Weight}' })
  await add('Greeting', 'Formula', { formula: 'CONCAT("Dear ", {Customer name}, ", ", UPPER({Title}))' })
  await add('Size', 'Formula', { formula: 'IF({Weight} > 5, "heavy", "light")' })
  const fill = filler(product)
  await fill(customers.id, CUSTOMERS, (n) => ({ Title: `Customer ${n}`, Mail: `c${n}@example.com` }))
  await fill(labels.id, LABELS, (n) => ({ Title: `label ${n}`, Weight: n % 7 }))
  const rows = makeRows(ROWS)
  await fill(orders.id, ROWS, (n) => ({
    ...rows[n],
    Customer: [1 + ((n * 31) % CUSTOMERS)],
    Labels: Array.from({ length: n % 4 }, (_, at) => 1 + ((n + at * 11) % LABELS)),
  }))
  return { id: orders.id, labelsId: labels.id, path: `/api/v2/tables/${orders.id}/records`, label, weight }
}

/** A table as wide as people make them in years. */
async function makeWide(product: Product, trpc: Trpc, orders: Awaited<ReturnType<typeof makeOrders>>) {
  const stored = Array.from({ length: WIDE.stored }, (_, at) => `C${at}`)
  const { table } = await trpc.schema.createTable.mutate({
    baseId: product.baseId,
    title: 'Wide',
    fields: stored.map((title) => ({ title, type: 'SingleLineText' as const })),
  })
  const add = adder(trpc, table.id)
  const links: string[] = []
  for (let at = 0; at < WIDE.links; at++) {
    const options = { kind: 'mm', relatedTableId: orders.labelsId, createInverse: false }
    links.push(await add(`L${at}`, 'Links', options))
  }
  const through = (at: number) => links[at % WIDE.links]
  for (let at = 0; at < WIDE.lookups; at++) {
    const targetFieldId = at % 2 === 0 ? orders.label : orders.weight
    await add(`K${at}`, 'Lookup', { relationFieldId: through(at), targetFieldId })
  }
  for (let at = 0; at < WIDE.rollups; at++) {
    await add(`R${at}`, 'Rollup', {
      relationFieldId: through(at),
      targetFieldId: orders.weight,
      function: 'sum',
    })
  }
  for (let at = 0; at < WIDE.formulas; at++) {
    const [links, rollup] = [at % WIDE.links, at % WIDE.rollups]
    const formula = [
      `{R${rollup}} * 2 + {L${links}}`,
      `CONCAT({C${at}}, " / ", UPPER({C${at + 1}}))`,
      `IF({R${rollup}} > 5, {C${at}}, LEFT({C${at + 2}}, 4))`,
    ][at % 3]
    await add(`F${at}`, 'Formula', { formula })
  }
  await filler(product)(table.id, 1_000, (n) => ({
    ...Object.fromEntries(stored.map((title, at) => [title, `value ${at % 13} of ${n}`])),
    ...Object.fromEntries(
      links.map((_, at) => [`L${at}`, [1 + ((n + at) % LABELS), 1 + ((n * 7 + at) % LABELS)]]),
    ),
  }))
  const fields = Object.values(WIDE).reduce((sum, count) => sum + count, 0)
  return { path: `/api/v2/tables/${table.id}/records`, stored, fields }
}

const adder =
  (trpc: Trpc, tableId: string) =>
  async (title: string, type: FieldTypeName, options: FieldOptions): Promise<string> =>
    (await trpc.schema.createField.mutate({ tableId, field: { title, type, options } })).id

async function fieldId(trpc: Trpc, tableId: string, title: string): Promise<string> {
  const { fields } = await trpc.schema.table.query({ tableId })
  const field = fields.find((candidate) => candidate.title === title)
  if (!field) throw new Error(`There is no field ${title}`)
  return field.id
}

const filler =
  (product: Product) =>
  async (tableId: string, count: number, make: (n: number) => object, chunk = 500) => {
    const rest = createRestClient(`http://127.0.0.1:${product.port}`, product.session)
    for (let from = 0; from < count; from += chunk) {
      const rows = Array.from({ length: Math.min(chunk, count - from) }, (_, at) => make(from + at))
      const { status, body } = await rest.post(`/api/v2/tables/${tableId}/records`, rows)
      if (status !== 200) throw new Error(`The table could not be filled: ${JSON.stringify(body)}`)
    }
  }
