import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Field, TableSchema } from '../../src/core/model.ts'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'

export type MetaDatabase = (typeof META_DATABASES)[number]

/** A running app with its owner and a base to work in. */
export interface Workshop {
  app: TestApp
  owner: TestUser
  baseId: string
  api: ReturnType<TestApp['trpc']>
  rest: ReturnType<TestApp['rest']>
}

export async function openWorkshop(database: MetaDatabase): Promise<Workshop> {
  const app = await createTestApp({ database })
  const owner = await app.signUp()
  const { id: baseId } = await createBase(app, owner)
  return { app, owner, baseId, api: app.trpc(owner.token), rest: app.rest(owner.token) }
}

let made = 0

/** A title that no other table has. */
export const freshTitle = (word = 'Table'): string => `${word} ${++made}`

type Inputs = Parameters<ReturnType<TestApp['trpc']>['schema']['createTable']['mutate']>[0]['fields']

/** A new table; by default with the one field "Title". */
export const createTable = (
  { api, baseId }: Workshop,
  fields?: Inputs,
  title = freshTitle(),
): Promise<TableSchema> => api.schema.createTable.mutate({ baseId, title, ...(fields && { fields }) })

/** The field of a title; fails where there is none. */
export function fieldOf({ fields }: Pick<TableSchema, 'fields'>, title: string): Field {
  const field = fields.find((candidate) => candidate.title === title)
  if (!field) throw new Error(`There is no field "${title}"`)
  return field
}

/** Adds records with values by title, and gives their ids. */
export async function addRecords(
  { api, baseId }: Workshop,
  schema: TableSchema,
  rows: Record<string, CellValue>[],
): Promise<(string | number)[]> {
  const values = rows.map((row) => ({
    values: Object.fromEntries(
      Object.entries(row).map(([title, value]) => [fieldOf(schema, title).id, value]),
    ),
  }))
  const tableId = schema.table.id
  const change = { baseId, operations: [{ kind: 'insert' as const, tableId, rows: values }] }
  return (await api.records.write.mutate({ change })).inserted
}

/** Sets one value of one record. */
export const setValue = ({ api, baseId }: Workshop, field: Field, id: string | number, value: CellValue) =>
  api.records.write.mutate({
    change: {
      baseId,
      operations: [{ kind: 'update', tableId: field.tableId, rows: [{ id, values: { [field.id]: value } }] }],
    },
  })

/** What a field holds, record by record. */
export async function valuesOf(
  { api }: Workshop,
  field: Pick<Field, 'id' | 'tableId'>,
): Promise<CellValue[]> {
  const query = { tableId: field.tableId, fieldIds: [field.id], limit: 1000, offset: 0 }
  return (await api.records.list.query({ query })).rows.map(([value]) => value ?? null)
}

/** The refusal of a call; fails where it was not refused. */
export async function refusalOf(
  call: Promise<unknown>,
): Promise<{ message: string; code: string; status: number; details: Record<string, unknown> | undefined }> {
  try {
    await call
  } catch (error) {
    const { message, data } = error as { message: string; data?: Record<string, unknown> }
    return {
      message,
      code: String(data?.appCode),
      status: Number(data?.httpStatus),
      details: data?.details as Record<string, unknown> | undefined,
    }
  }
  throw new Error('The call was not refused')
}

/** Every kind of metadata database, for suites that hold on each. */
export const databases = META_DATABASES

type FieldInput = Parameters<ReturnType<TestApp['trpc']>['schema']['createField']['mutate']>[0]['field']

/** A new field of a table. */
export const createField = ({ api }: Workshop, tableId: string, field: FieldInput): Promise<Field> =>
  api.schema.createField.mutate({ tableId, field })

/** What a link is made of, beside the tables. */
interface LinkInput {
  kind: 'hm' | 'bt' | 'mm' | 'oo'
  title?: string
  type?: 'Links' | 'LinkToAnotherRecord'
  createInverse?: boolean
  required?: boolean
}

/** A new link from one table to another. */
export const createLink = (
  shop: Workshop,
  tableId: string,
  relatedTableId: string,
  { kind, title, type = 'Links', createInverse, required }: LinkInput,
): Promise<Field> =>
  createField(shop, tableId, {
    type,
    ...(title !== undefined && { title }),
    ...(required !== undefined && { required }),
    options: { kind, relatedTableId, ...(createInverse !== undefined && { createInverse }) },
  })

/** A table as it stands. */
export const readTable = ({ api }: Workshop, tableId: string): Promise<TableSchema> =>
  api.schema.table.query({ tableId })
