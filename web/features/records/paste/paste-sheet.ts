import type { Values } from '../../../../src/core/changes.ts'
import { isEmptyWord } from '../../../../src/core/fields/empty-words.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import type { Field } from '../../../../src/core/model.ts'
import { messageOf } from '../../../errors.ts'
import { type ClipboardBlock, optionsForCopied, readClipboard, textsOf } from '../../../grid/clipboard.ts'
import type { PastePlan } from '../../../grid/contract.ts'
import { readLinkCell } from '../../../grid/paste.ts'
import { listNames } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { confirm } from '../../../ui/confirm.tsx'
import { shortcutLabel } from '../../../ui/shortcuts.ts'
import { toast } from '../../../ui/toast.ts'
import { createField, updateField } from '../../schema/field-commands.tsx'
import { shownFields } from '../../views/state/arrange-fields.ts'
import { can, fieldOf, type GetContext, isWritable, type TableContext } from '../context/table-context.ts'
import { tellLeftOut } from './left-out.tsx'
import { addable } from './paste-command.tsx'
import { withNamesFound } from './paste-names.ts'
import { detectColumns, type Notation, readColumn } from './pasted-columns.ts'

/** Maximum records per paste; more need a file import. */
const MAX_ROWS = 10_000

/** Reads the clipboard for the "Paste" button of an empty table; the browser may ask for permission. */
export async function pasteFromButton(get: GetContext): Promise<void> {
  try {
    const [item] = await navigator.clipboard.read()
    await pasteSheet(get, await textsOf(item))
  } catch (error) {
    if (!(error instanceof DOMException || error instanceof TypeError)) throw error
    toast.error({
      text: m.records_browser_blocks_clipboard_access_here({
        keys: shortcutLabel('mod+v'),
      }),
    })
  }
}

/**
 * Fills an empty table from pasted cells; missing fields are created. The first line contains field titles, except in cells that
 * were copied in Sheaf, which bring the titles of their fields along.
 */
export async function pasteSheet(get: GetContext, getData: (type: string) => string): Promise<void> {
  const block = readClipboard(getData)
  if (!block) return
  const { own } = block
  const context = get()
  const mayAdd = can(context, 'field.create')
  const { header, rows } = withHeader(context, block, mayAdd)
  if (rows.length > MAX_ROWS) {
    toast.error({ text: m.records_too_much_data_paste_once() })
    return
  }
  if (header && mayAdd && !(await agree(header, rows.length))) return
  // Fields need separate calls; undo reverts the whole paste.
  const actionId = crypto.randomUUID()
  try {
    const { fields, notations } = header
      ? await fieldsFor(context, header, rows, mayAdd, actionId)
      : { fields: shownWritable(context), notations: [] }
    const columns = fields.map(
      (field, at) =>
        field &&
        !linkOf(field) &&
        readColumn(
          { type: field.type, options: optionsForCopied(own?.fields[at], field) },
          rows.map((row) => row[at] ?? ''),
          // Our numbers have a decimal point in every locale.
          own ? { decimal: '.' } : notations[at],
        ),
    )
    const newRows = rows.map((_, down): Values => {
      const entries = fields.flatMap((field, at) => {
        const column = columns[at]
        const value = column ? column[down] : undefined
        return field && value !== undefined && value !== null ? [[field.id, value] as const] : []
      })
      return Object.fromEntries(entries)
    })
    const linked = await withNamesFound(context, planOfLinks({ ...block, texts: [...rows] }, fields, newRows))
    const added = addable(linked, linked.newRows)
    await get().store.write([], added, { actionId })
    const unread = fields.flatMap((field, at) =>
      rows.flatMap((row, down) => {
        const text = row[at] ?? ''
        const isEmpty = text.trim() === '' || (field && isEmptyWord(text, fieldType(field.type)))
        const column = columns[at]
        const isLeftOut = field && column && !isEmpty && column[down] === null
        return isLeftOut ? [{ row: down + 1, field: field.title, text }] : []
      }),
    )
    const unlinked = linked.rejected.map(({ rowIndex, fieldId, text, reason }) => ({
      row: rowIndex + 1,
      field: fieldOf(context, fieldId)?.title ?? '',
      text,
      reason,
    }))
    tellLeftOut(context.schema.table.id, [...unread, ...unlinked])
    toast.success({ text: m.records_records_pasted({ count: added.length }) })
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}

/** The links of new rows, as copied or by the names of their records, which are to be found. */
function planOfLinks(
  block: ClipboardBlock,
  fields: readonly (Field | undefined)[],
  newRows: readonly Values[],
): PastePlan {
  const plan: PastePlan = {
    cells: [],
    newRows: newRows.map((values) => ({ ...values })),
    extraColumns: [],
    extraRows: [],
    rejected: [],
    names: [],
    newOptions: [],
    skipped: 0,
    covers: { top: 0, bottom: newRows.length - 1, start: 0, end: fields.length - 1 },
  }
  for (const [at, field] of fields.entries()) {
    if (!field || !linkOf(field)) continue
    const { id: fieldId, options } = field
    for (const [down, values] of plan.newRows.entries()) {
      const read = readLinkCell(block, down, at, { type: fieldType(field.type), options })
      if (read.kind === 'value') {
        if (read.value !== null) values[fieldId] = read.value
        continue
      }
      const { text } = read
      if (read.kind === 'rejected') plan.rejected.push({ rowIndex: down, fieldId, text })
      else plan.names.push({ rowIndex: down, recordId: undefined, newRow: down, fieldId, text })
    }
  }
  return plan
}

/**
 * Separates the titles of the columns from their values. The header is null if the values belong to the fields in their
 * order: a single cell, cells that begin with no titles, and cells copied in Sheaf for someone who may not add fields if
 * the table has none of theirs.
 */
function withHeader(
  { schema }: TableContext,
  { texts, own }: ClipboardBlock,
  mayAdd: boolean,
): { header: readonly string[] | null; rows: readonly string[][] } {
  const [first = [], ...others] = texts
  const isSingleCell = others.length === 0 && first.length === 1
  if (own && !isSingleCell) {
    const titles = own.fields.map(({ title }) => title)
    const isUsed = mayAdd || titles.some((title) => fieldTitled(schema.fields, title))
    return { header: isUsed ? titles : null, rows: texts }
  }
  const isTitle = (text: string) => text.trim() !== '' && Number.isNaN(Number(text))
  return others.length > 0 && first.every(isTitle)
    ? { header: first, rows: others }
    : { header: null, rows: texts }
}

const fieldTitled = (fields: readonly Field[], title: string): Field | undefined =>
  fields.find((field) => field.title.toLowerCase() === title.trim().toLowerCase())

const agree = (header: readonly string[], rows: number): Promise<boolean> =>
  confirm({
    title: m.records_paste_this_sheet_confirm(),
    text: m.records_pastes_records_fields_fields_missing({
      records: m.common_records_count({ count: rows }),
      fields: listNames(header.slice(0, 12)) + (header.length > 12 ? ' …' : ''),
    }),
    confirmLabel: m.records_paste(),
  })

const shownWritable = ({ schema, state }: TableContext): Field[] =>
  shownFields(schema.fields, state.view)
    .map(({ field }) => field)
    .filter(isWritable)

/** The field of each column: by title, else newly created; undefined without the right to add fields. */
async function fieldsFor(
  context: TableContext,
  header: readonly string[],
  rows: readonly string[][],
  mayAdd: boolean,
  actionId: string,
): Promise<{ fields: (Field | undefined)[]; notations: Notation[] }> {
  const { schema, state } = context
  const detected = await detectColumns(
    header.map((_, at) => rows.map((row) => row[at] ?? '')),
    header,
  )
  const named = (title: string) => fieldTitled(schema.fields, title)
  const found: (Field | undefined)[] = []
  for (const [at, title] of header.entries()) {
    const known = named(title)
    const display = schema.fields.find((field) => field.isDisplay && isWritable(field))
    // The server fills fields that nobody can write.
    if (known) found.push(isWritable(known) ? known : undefined)
    else if (!mayAdd) found.push(undefined)
    else if (
      at === 0 &&
      display &&
      fieldType(display.type).filters === 'text' &&
      !header.some((other) => named(other) === display)
    ) {
      // The first column names the records: the display field takes its name rather than staying empty.
      found.push(await updateField(schema.table, display, { title: title.trim() }, actionId))
    } else {
      const place = { viewId: state.view.id }
      const input = detected.fields[at] ?? { title: title.trim(), type: 'SingleLineText' }
      found.push(await createField(schema.table, input, place, actionId))
    }
  }
  const notations = detected.notations.map(({ decimal, reading }, at) =>
    named(header[at] ?? '') ? { decimal } : { decimal, reading },
  )
  return { fields: found, notations }
}
