import { type ReactNode, useState } from 'react'
import type { PastePlan } from '../../../grid/contract.ts'
import { m } from '../../../messages.gen.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/overlays.ts'
import styles from './paste-dialog.module.css'

/** What the person agreed to. */
export interface PasteAnswer {
  rows: boolean
  fields: boolean
  options: boolean
}

export interface PasteDialogProps {
  plan: PastePlan
  mayAddOptions: boolean
  nameOf: (fieldId: string) => string
  onAnswer: (answer: PasteAnswer | null) => void
}

/** The one question before a paste that reaches beyond what is there. */
export function PasteDialog({ plan, mayAddOptions, nameOf, onAnswer }: PasteDialogProps) {
  const [answer, setAnswer] = useState<PasteAnswer>({ rows: true, fields: true, options: mayAddOptions })
  const rows = plan.newRows.length
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
