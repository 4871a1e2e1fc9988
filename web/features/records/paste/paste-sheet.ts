import type { NewRow } from '../../../../src/core/changes.ts'
import { isEmptyWord } from '../../../../src/core/fields/empty-words.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { DecimalMark } from '../../../../src/core/fields/number-text.ts'
import type { Field } from '../../../../src/core/model.ts'
import { messageOf } from '../../../errors.ts'
import { optionsForCopied, readClipboard } from '../../../grid/clipboard.ts'
import { m } from '../../../messages.gen.ts'
import { confirm } from '../../../ui/confirm.tsx'
import { shortcutLabel } from '../../../ui/shortcuts.ts'
import { toast } from '../../../ui/toast.ts'
import { createField, updateField } from '../../schema/field-commands.tsx'
import { shownFields } from '../../views/state/arrange-fields.ts'
import { can, type GetContext, isWritable, type TableContext } from '../context/table-context.ts'
import { tellLeftOut } from './left-out.tsx'
import { detectColumns, readColumn } from './pasted-columns.ts'

/** Maximum records per paste; more need a file import. */
const MAX_ROWS = 10_000

/** Reads the clipboard for the "Paste" button of an empty table; the browser may ask for permission. */
export async function pasteFromButton(get: GetContext): Promise<void> {
  try {
    const text = await navigator.clipboard.readText()
    await pasteSheet(get, (type) => (type === 'text/plain' ? text : ''))
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
  const { texts, own } = block
  const isSingleCell = texts.length === 1 && texts[0]?.length === 1
  const titles = isSingleCell ? undefined : own?.fields.map(({ title }) => title)
  const [header, ...lines] = titles ? [titles, ...texts] : texts
  if (!header) return
  if (lines.length > MAX_ROWS) {
    toast.error({ text: m.records_too_much_data_paste_once() })
    return
  }
  const context = get()
  const isTitle = (text: string) => text.trim() !== '' && Number.isNaN(Number(text))
  const isNamed = titles !== undefined || (lines.length > 0 && header.every(isTitle))
  const rows = isNamed ? lines : [header, ...lines]
  const mayAdd = can(context, 'field.create')
  if (isNamed && mayAdd && !(await agree(header, rows.length))) return
  // Fields need separate calls; undo reverts the whole paste.
  const actionId = crypto.randomUUID()
  try {
    const { fields, decimal: detected } = isNamed
      ? await fieldsFor(context, header, rows, mayAdd, actionId)
      : { fields: shownWritable(context), decimal: undefined }
    // Our numbers have a decimal point in every locale.
    const decimal = own ? '.' : detected
    const columns = fields.map(
      (field, at) =>
        field &&
        readColumn(
          { type: field.type, options: optionsForCopied(own?.fields[at], field) },
          rows.map((row) => row[at] ?? ''),
          decimal,
        ),
    )
    const added = rows.map((_, down): NewRow => {
      const entries = fields.flatMap((field, at) => {
        const value = field ? columns[at]?.[down] : undefined
        return field && value !== undefined && value !== null ? [[field.id, value] as const] : []
      })
      return { values: Object.fromEntries(entries) }
    })
    await get().store.write([], added, { actionId })
    tellLeftOut(
      context.schema.table.id,
      fields.flatMap((field, at) =>
        rows.flatMap((row, down) => {
          const text = row[at] ?? ''
          const isEmpty = text.trim() === '' || (field && isEmptyWord(text, fieldType(field.type)))
          const isLeftOut = field !== undefined && !isEmpty && columns[at]?.[down] === null
          return isLeftOut ? [{ row: down + 1, field: field.title, text }] : []
        }),
      ),
    )
    toast.success({ text: m.records_records_pasted({ count: rows.length }) })
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}

const agree = (header: readonly string[], rows: number): Promise<boolean> =>
  confirm({
    title: m.records_paste_this_sheet_confirm(),
    text: m.records_pastes_records_fields_fields_missing({
      records: m.common_records_count({ count: rows }),
      fields: new Intl.ListFormat(undefined).format(header.slice(0, 12)) + (header.length > 12 ? ' …' : ''),
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
): Promise<{ fields: (Field | undefined)[]; decimal: DecimalMark }> {
  const { schema, state } = context
  const detected = await detectColumns(
    header.map((_, at) => rows.map((row) => row[at] ?? '')),
    header,
  )
  const named = (title: string) =>
    schema.fields.find((field) => field.title.toLowerCase() === title.trim().toLowerCase())
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
      found.push(await updateField(schema.table, display.id, { title: title.trim() }, actionId))
    } else {
      const place = { viewId: state.view.id }
      const input = detected.fields[at] ?? { title: title.trim(), type: 'SingleLineText' }
      found.push(await createField(schema.table, input, place, actionId))
    }
  }
  return { fields: found, decimal: detected.decimal }
}
