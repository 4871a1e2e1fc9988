import { type ReactNode, useState } from 'react'
import type { NewRow, Values } from '../../../../src/core/changes.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import type { PastePlan, RejectedText } from '../../../grid/contract.ts'
import { withoutNewOptions, withoutNewRows } from '../../../grid/paste.ts'
import { m } from '../../../messages.gen.ts'
import type { PendingWrite } from '../../../records/record-store.ts'
import { Button } from '../../../ui/button.tsx'
import { askInDialog } from '../../../ui/open-dialog.tsx'
import { Dialog } from '../../../ui/overlays.ts'
import { addFieldOptions, createField } from '../../schema/field-commands.tsx'
import { can, fieldOf, type GetContext, type TableContext } from '../context/table-context.ts'
import { tellLeftOut } from './left-out.tsx'
import styles from './paste-dialog.module.css'
import { type NamedPaste, withNamesFound } from './paste-names.ts'
import { detectColumns, readColumn } from './pasted-columns.ts'

/**
 * Executes a paste: asks once about all decisions, then writes everything as one change. Returns the number of written
 * cells; null if cancelled.
 */
export async function pastePlan(get: GetContext, asked: PastePlan): Promise<number | null> {
  return get().store.startWrite((pending) => paste(get, asked, pending))
}

async function paste(get: GetContext, asked: PastePlan, pending: PendingWrite): Promise<number | null> {
  const context = get()
  const identified = await withIds(context, asked)
  if (!identified) return null
  const plan = await withNamesFound(context, identified)
  const mayAddFields = can(context, 'field.create')
  const offered = mayAddFields ? plan : { ...plan, extraColumns: [] }
  const needsAnswer =
    rowsToAdd(offered) > 0 || offered.extraColumns.length > 0 || offered.newOptions.length > 0
  const answer = needsAnswer ? await ask(context, offered, mayAddFields) : NOTHING_ASKED
  if (answer === null) return null
  // New options and fields need separate calls; undo reverts the whole paste.
  const actionId = crypto.randomUUID()
  let agreed: NamedPaste = offered
  if (!answer.rows) agreed = withoutNewRows(agreed)
  if (!answer.options) agreed = withoutNewOptions(agreed)
  else if (!(await makeOptions(context, agreed, actionId))) return null
  const added = answer.fields ? await makeFields(context, agreed, actionId) : []
  const written = await write(get(), agreed, added, { actionId, pending })
  tellRejected(context, plan.rejected)
  return written
}

const rowsToAdd = ({ newRows, refusedRows }: NamedPaste): number => newRows.length - refusedRows.size

const NOTHING_ASKED: PasteAnswer = { rows: true, fields: true, options: true }

function ask(context: TableContext, plan: NamedPaste, mayAdd: boolean): Promise<PasteAnswer | null> {
  const nameOf = (fieldId: string) => fieldOf(context, fieldId)?.title ?? ''
  return askInDialog(
    (answer) => <PasteDialog plan={plan} mayAddOptions={mayAdd} nameOf={nameOf} onAnswer={answer} />,
    null,
  )
}

async function makeOptions(context: TableContext, plan: PastePlan, actionId: string): Promise<boolean> {
  for (const { fieldId, titles } of plan.newOptions) {
    const field = fieldOf(context, fieldId)
    if (field && !(await addFieldOptions(context.schema.table, field, titles, actionId))) return false
  }
  return true
}

/** A field created for a pasted column; values are null for empty or invalid texts. */
interface AddedColumn {
  field: Field
  texts: readonly string[]
  values: readonly CellValue[]
}

async function makeFields(context: TableContext, plan: PastePlan, actionId: string): Promise<AddedColumn[]> {
  if (plan.extraColumns.length === 0) return []
  const { fields, notations } = await detectColumns(plan.extraColumns)
  const made: AddedColumn[] = []
  for (const [at, texts] of plan.extraColumns.entries()) {
    const place = { viewId: context.state.view.id }
    const input = fields[at] ?? { type: 'SingleLineText' }
    const field = await createField(context.schema.table, input, place, actionId)
    made.push({ field, texts, values: readColumn(field, texts, notations[at]) })
  }
  return made
}

async function write(
  context: TableContext,
  plan: NamedPaste,
  added: readonly AddedColumn[],
  options: { actionId: string; pending: PendingWrite },
): Promise<number | null> {
  const { store } = context
  const newRows: Values[] = plan.newRows.map((values) => ({ ...values }))
  const rows = new Map<RecordId, Values>()
  const setValue = (id: RecordId | undefined, fieldId: string, value: CellValue) =>
    id !== undefined && rows.set(id, { ...rows.get(id), [fieldId]: value })
  for (const { recordId, fieldId, value } of plan.cells) setValue(recordId, fieldId, value)
  for (const { field, values } of added) {
    for (const [down, { recordId, newRow }] of plan.extraRows.entries()) {
      const value = values[down] ?? null
      const fresh = newRow === null ? undefined : newRows[newRow]
      if (fresh) fresh[field.id] = value
      else if (newRow === null) setValue(recordId, field.id, value)
    }
  }
  const known = [...rows].map(([id, values]) => ({ id, values }))
  const rowsAdded = addable(plan, newRows)
  const cells = [...known, ...rowsAdded].reduce(
    (sum, { values, siblings }: NewRow) => sum + Object.keys({ ...values, ...siblings }).length,
    0,
  )
  if (known.length + rowsAdded.length === 0) return 0
  const done = store.write(known, rowsAdded, options)
  // The store has shown the error.
  void done
  return cells
}

/** The new rows that can be added, with their links to each other. */
export function addable(
  { siblings, refusedRows }: Pick<NamedPaste, 'siblings' | 'refusedRows'>,
  newRows: readonly Values[],
): NewRow[] {
  const kept = [...newRows.keys()].filter((row) => !refusedRows.has(row))
  const places = new Map(kept.map((row, place) => [row, place]))
  return kept.map((row): NewRow => {
    const values = newRows[row] ?? {}
    const links = Object.entries(siblings.get(row) ?? {}).map(
      ([fieldId, rows]) => [fieldId, rows.flatMap((other) => places.get(other) ?? [])] as const,
    )
    const linked = links.filter(([, rows]) => rows.length > 0)
    return linked.length === 0 ? { values } : { values, siblings: Object.fromEntries(linked) }
  })
}

/**
 * A plan with the ids of its rows, read before questions are asked: by the answer, others may have moved the rows. Null
 * if they have moved already, which the user is told.
 */
async function withIds({ store }: TableContext, plan: PastePlan): Promise<PastePlan | null> {
  const existing = [...plan.extraRows, ...plan.names].filter(({ newRow }) => newRow === null)
  const ids = await store.identify([...plan.cells, ...existing])
  const withId = <Row extends { rowIndex: number; recordId: RecordId | undefined }>(row: Row): Row => ({
    ...row,
    recordId: row.recordId ?? ids?.get(row.rowIndex),
  })
  return (
    ids && {
      ...plan,
      cells: plan.cells.map(withId),
      names: plan.names.map((one) => (one.newRow === null ? withId(one) : one)),
      extraRows: plan.extraRows.map((row) => (row.newRow === null ? withId(row) : row)),
    }
  )
}

/** Lists rejected texts by their target cells. */
export function tellRejected(context: TableContext, rejected: readonly RejectedText[]): void {
  tellLeftOut(
    context.schema.table.id,
    rejected.map(({ rowIndex, fieldId, text, reason }) => ({
      row: rowIndex + 1,
      field: fieldOf(context, fieldId)?.title ?? '',
      text,
      reason,
    })),
  )
}

/** The parts of the paste that the user accepted. */
interface PasteAnswer {
  rows: boolean
  fields: boolean
  options: boolean
}

interface PasteDialogProps {
  plan: NamedPaste
  mayAddOptions: boolean
  nameOf: (fieldId: string) => string
  onAnswer: (answer: PasteAnswer | null) => void
}

/** Dialog before a paste that needs new rows, fields or options. */
function PasteDialog({ plan, mayAddOptions, nameOf, onAnswer }: PasteDialogProps) {
  const [answer, setAnswer] = useState<PasteAnswer>({ rows: true, fields: true, options: mayAddOptions })
  const rows = rowsToAdd(plan)
  const fields = plan.extraColumns.length
  const titles = plan.newOptions.reduce((sum, { titles }) => sum + titles.length, 0)
  return (
    <Dialog
      title={m.records_add_rows_fields_or_options()}
      onClose={() => onAnswer(null)}
      onSubmit={() => onAnswer(answer)}
      footer={
        <>
          <Button onClick={() => onAnswer(null)}>{m.common_cancel()}</Button>
          <Button type="submit" variant="primary" data-autofocus>
            {m.records_paste()}
          </Button>
        </>
      }
    >
      <div className={styles.list}>
        {rows > 0 && (
          <Offer checked={answer.rows} onChange={(on) => setAnswer({ ...answer, rows: on })}>
            {m.records_add_records({ count: rows })}
          </Offer>
        )}
        {fields > 0 && (
          <Offer checked={answer.fields} onChange={(on) => setAnswer({ ...answer, fields: on })}>
            {m.records_add_fields({ count: fields })}
          </Offer>
        )}
        {titles > 0 && (
          <Offer
            checked={answer.options}
            disabled={!mayAddOptions}
            onChange={(on) => setAnswer({ ...answer, options: on })}
          >
            {m.records_add_options({ count: titles })}
            {plan.newOptions.map((each) => (
              <small key={each.fieldId} className={styles.detail} dir="auto">
                {nameOf(each.fieldId)}: {each.titles.slice(0, 8).join(', ')}
                {each.titles.length > 8 && ' …'}
              </small>
            ))}
          </Offer>
        )}
        <p className={styles.note}>{m.records_unchecked_items_skipped_everything_else()}</p>
      </div>
    </Dialog>
  )
}

interface OfferProps {
  checked: boolean
  disabled?: boolean
  onChange: (checked: boolean) => void
  children: ReactNode
}

function Offer({ checked, disabled, onChange, children }: OfferProps) {
  return (
    <label className={styles.offer}>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className={styles.words}>{children}</span>
    </label>
  )
}
