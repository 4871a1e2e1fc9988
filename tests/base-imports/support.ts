import type { inferRouterInputs } from '@trpc/server'
import type { BaseImport } from '../../src/core/base-imports.ts'
import type { AppRouter } from '../../src/router.ts'
import type {
  AirtableServerBase,
  AirtableServerRecord,
  AirtableServerTable,
} from '../support/airtable-server.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { until } from '../support/until.ts'

const EVERYTHING = {
  views: true,
  comments: true,
  attachments: true,
  names: true,
  formulas: true,
  lookups: true,
  rollups: true,
  removeMissing: false,
  compareComments: false,
}

type BeginInput = inferRouterInputs<AppRouter>['baseImports']['begin']

interface ImportSettings {
  choices?: Partial<typeof EVERYTHING>
  baseId?: string
  keepCredentials?: boolean
  title?: string
}

/** Input of an import of everything, or of what the settings say. */
export const importFrom = (
  from: BeginInput['from'],
  sourceBaseId: string,
  { choices, ...settings }: ImportSettings = {},
): BeginInput => ({
  from,
  sourceBaseId,
  title: 'Imported',
  keepCredentials: false,
  choices: { ...EVERYTHING, ...choices },
  ...settings,
})

/** Input of an import by a personal access token. */
export const fromAirtable = (sourceBaseId: string, settings: ImportSettings = {}) => ({
  ...importFrom({ source: 'airtable', credentials: { token: 'pat-test' } }, sourceBaseId, settings),
  from: { source: 'airtable' as const, credentials: { token: 'pat-test' } },
})

/** Waits until an import has stopped running. */
export async function settled(app: TestApp, user: TestUser, importId: string): Promise<BaseImport> {
  const find = () => app.trpc(user.token).baseImports.get.query({ importId })
  await until(async () => (await find()).status !== 'running', `The end of the import ${importId}`)
  return find()
}

/** Uploads a file as the import dialog does; the id names it in credentials. */
export async function uploadFile(
  app: TestApp,
  user: TestUser,
  name: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const answer = await fetch(`${app.url}/api/internal/uploads?name=${name}`, {
    method: 'POST',
    headers: { 'xc-auth': user.token, 'content-type': 'application/octet-stream' },
    body,
  })
  return ((await answer.json()) as { uploadId: string }).uploadId
}

/** The records of a table as objects by field title. */
export async function recordsOf(app: TestApp, user: TestUser, baseId: string, title: string) {
  const trpc = app.trpc(user.token)
  const tables = await trpc.schema.tables.query({ baseId })
  const table = tables.find((one) => one.title === title)
  if (!table) throw new Error(`No table ${title} among ${tables.map((one) => one.title).join(', ')}`)
  const schema = await trpc.schema.table.query({ tableId: table.id })
  const rows: Record<string, unknown>[] = []
  for (let offset = 0; ; offset += 500) {
    const page = await trpc.records.list.query({ query: { tableId: table.id, limit: 500, offset } })
    const titles = page.fieldIds.map((id) => schema.fields.find((field) => field.id === id)?.title ?? id)
    for (const [index, row] of page.rows.entries()) {
      rows.push({ $id: page.ids[index], ...Object.fromEntries(titles.map((name, at) => [name, row[at]])) })
    }
    if (page.rows.length < 500) return { table, schema, rows }
  }
}

let made = 0
const nextId = (prefix: string): string => `${prefix}${String(++made).padStart(14, '0')}`

/** Builds a table at Airtable: fields by title, and records with values by title. */
export function airtableTable(
  name: string,
  fields: Record<string, string | { type: string; options?: Record<string, unknown> }>,
  records: Record<string, unknown>[] = [],
  views: AirtableServerTable['views'] = [{ id: nextId('viw'), name: 'Grid view', type: 'grid' }],
): AirtableServerTable & { field(title: string): string } {
  const list = Object.entries(fields).map(([title, field]) => ({
    id: nextId('fld'),
    name: title,
    ...(typeof field === 'string' ? { type: field } : field),
  }))
  const byTitle = new Map(list.map(({ id, name: title }) => [title, id]))
  const table = {
    id: nextId('tbl'),
    name,
    primaryFieldId: list[0]!.id,
    fields: list,
    views,
    records: [] as AirtableServerTable['records'],
    field: (title: string) => byTitle.get(title) ?? `no field ${title}`,
  }
  table.records = records.map((values) => ({
    id: nextId('rec'),
    createdTime: '2024-03-05T08:20:30.000Z',
    fields: Object.fromEntries(Object.entries(values).map(([title, value]) => [table.field(title), value])),
  }))
  return table
}

export const airtableBase = (name: string, tables: AirtableServerTable[]): AirtableServerBase => ({
  id: nextId('app'),
  name,
  tables,
})

/** Adds a link between two tables; the returned function links two records, at both ends as Airtable lists them. */
export function linkTables(
  from: AirtableServerTable,
  title: string,
  to: AirtableServerTable,
  inverse: string,
): (one: AirtableServerRecord, other: AirtableServerRecord) => void {
  const [id, back] = [nextId('fld'), nextId('fld')]
  const options = (linkedTableId: string, inverseLinkFieldId: string) => ({
    linkedTableId,
    inverseLinkFieldId,
  })
  from.fields.push({ id, name: title, type: 'multipleRecordLinks', options: options(to.id, back) })
  to.fields.push({ id: back, name: inverse, type: 'multipleRecordLinks', options: options(from.id, id) })
  const add = (record: AirtableServerRecord, field: string, target: string) => {
    record.fields[field] = [...((record.fields[field] as string[] | undefined) ?? []), target]
  }
  return (one, other) => {
    add(one, id, other.id)
    add(other, back, one.id)
  }
}
