import type { Actor } from '../../../src/core/actor.ts'
import type { Change, Operation, Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import { type AttachmentItem, readItems, writeAttachments } from '../../../src/core/fields/attachment-item.ts'
import { typeByName } from '../../../src/core/fields/attachment-kinds.ts'
import { holdsFiles } from '../../../src/core/fields/traits.ts'
import { parseJsonText } from '../../../src/core/json-text.ts'
import type { Field } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import { perModel } from '../table/index.ts'
import type { FileRow, Files } from './files.ts'

/** The fields of files of a table; most have none. */
const fileFields = perModel((model) => model.fields.filter(holdsFiles))

interface Found {
  values: Values
  field: Field
  items: AttachmentItem[]
}

/**
 * Looks at the files that values name before they are written: a cell may only name what this person may
 * read, and what it says of a file is what the server knows of it. Text that is no list of files is left to
 * the field's own check, which refuses it in words.
 */
export function createSettle(files: Files, maxCount: number) {
  async function settle(
    actor: Actor,
    baseId: string,
    lists: { model: TableModel; values: Values }[],
  ): Promise<void> {
    const found = lists.flatMap(({ model, values }) => findItems(model, values))
    if (found.length === 0) return
    for (const { field, items } of found) refuseTooMany(field, items, maxCount)
    const paths = new Set(found.flatMap(({ items }) => items.map(({ path }) => path)))
    paths.delete(undefined)
    const known = paths.size === 0 ? new Map() : await files.claim(actor, baseId, [...paths] as string[])
    for (const { values, field, items } of found) {
      values[field.id] = writeAttachments(items.map((item) => withFacts(item, known)))
    }
  }

  return {
    /** The change with its files looked at; the very same where it names none. @throws BAD_REQUEST */
    async change(
      actor: Actor,
      change: Change,
      load: (tableId: string) => Promise<TableModel>,
    ): Promise<Change> {
      const lists: { model: TableModel; values: Values }[] = []
      const operations: Operation[] = []
      for (const operation of change.operations) {
        const model = await load(operation.tableId)
        if ((operation.kind !== 'insert' && operation.kind !== 'update') || fileFields(model).length === 0) {
          operations.push(operation)
          continue
        }
        const rows = operation.rows.map((row) => ({ ...row, values: { ...row.values } }))
        lists.push(...rows.map(({ values }) => ({ model, values })))
        operations.push({ ...operation, rows } as Operation)
      }
      if (lists.length === 0) return change
      await settle(actor, change.baseId, lists)
      return { ...change, operations }
    },

    /** The same for values that many records get. @throws BAD_REQUEST */
    async values(actor: Actor, model: TableModel, values: Values): Promise<Values> {
      const settled = { ...values }
      await settle(actor, model.table.baseId, [{ model, values: settled }])
      return settled
    },
  }
}

function findItems(model: TableModel, values: Values): Found[] {
  return fileFields(model).flatMap((field) => {
    const input: unknown = values[field.id]
    const items = readItems(typeof input === 'string' ? parse(input) : input)
    return typeof items === 'string' || items.length === 0 ? [] : [{ values, field, items }]
  })
}

function parse(text: string): unknown {
  if (!text.trimStart().startsWith('[')) return null
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** The name is the person's to choose; type and size are what they are. */
function withFacts(item: AttachmentItem, known: ReadonlyMap<string, FileRow>): AttachmentItem {
  const row = item.path === undefined ? undefined : known.get(item.path)
  if (!row) return { ...item, mimetype: item.mimetype || typeByName(item.title) }
  const { mimetype, size, width, height } = row
  return { ...item, mimetype, size, width: width ?? undefined, height: height ?? undefined }
}

function refuseTooMany(field: Field, items: AttachmentItem[], maxCount: number): void {
  if (typeof field.options.maxCount === 'number' || items.length <= maxCount) return
  const message = `Field "${field.title}" allows up to ${maxCount} files, got ${items.length}`
  throw new AppError('BAD_REQUEST', message, { fieldId: field.id, field: field.title }, 'msg')
}
