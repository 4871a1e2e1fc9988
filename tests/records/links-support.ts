import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import type { Bench, TestTable } from './support.ts'

/** One end of a link: the table and its field. */
export interface TestEnd {
  tableId: string
  fieldId: string
  title: string
  options: LinkOptions
}

/** A link between two tables of a test. */
export interface TestLink {
  own: TestEnd
  /** The link as the other table shows it. */
  inverse: TestEnd
  /** Links records to one, or takes links away, seen from the own side unless told otherwise. */
  write(kind: 'link' | 'unlink', id: RecordId, targets: RecordId[], from?: TestEnd): Promise<{ id: number }>
  /** Gives a record exactly these. */
  set(id: RecordId, targets: RecordId[], from?: TestEnd): Promise<{ id: number }>
}

/** Links two tables, or a table with itself. */
export async function createLink(
  bench: Pick<Bench, 'trpc' | 'baseId'>,
  own: Pick<TestTable, 'id'>,
  related: Pick<TestTable, 'id'>,
  kind: LinkOptions['kind'],
  options: { required?: boolean; viewId?: string; holdsKey?: boolean; title?: string; type?: 'Links' } = {},
): Promise<TestLink> {
  const { trpc, baseId } = bench
  const { required, viewId, holdsKey, title } = options
  const field = await trpc.schema.createField.mutate({
    tableId: own.id,
    field: {
      ...(title !== undefined && { title }),
      ...(required && { required }),
      type: kind === 'hm' || kind === 'mm' ? 'Links' : 'LinkToAnotherRecord',
      options: { kind, relatedTableId: related.id, ...(viewId && { viewId }), ...(holdsKey && { holdsKey }) },
    } as never,
  })
  const ownEnd = endOf(field)
  const { fields } = await trpc.schema.table.query({ tableId: related.id })
  const inverse = fields.find(({ id }) => id === ownEnd.options.inverseFieldId)
  if (!inverse) throw new Error('The link has no reverse')
  const apply = (operation: object) =>
    trpc.records.write.mutate({ change: { baseId, operations: [operation as never] } })
  return {
    own: ownEnd,
    inverse: endOf(inverse),
    write: (verb, id, targets, from = ownEnd) =>
      apply({ kind: verb, tableId: from.tableId, fieldId: from.fieldId, id, targets }),
    set: (id, targets, from = ownEnd) =>
      apply({
        kind: 'update',
        tableId: from.tableId,
        rows: [{ id, values: { [from.fieldId]: targets.length === 0 ? null : JSON.stringify(targets) } }],
      }),
  }
}

const endOf = (field: Field): TestEnd => ({
  tableId: field.tableId,
  fieldId: field.id,
  title: field.title,
  options: field.options as LinkOptions,
})

/** Ids of the records linked to one, in their table's order, as the picker reads them. */
export async function linkedIds(
  { trpc }: Pick<Bench, 'trpc'>,
  { tableId, fieldId }: TestEnd,
  recordId: RecordId,
): Promise<RecordId[]> {
  const page = await trpc.records.linked.query({ tableId, fieldId, recordId, limit: 100, offset: 0 })
  return page.ids
}
