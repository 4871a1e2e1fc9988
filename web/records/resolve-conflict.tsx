import { useId, useRef, useState } from 'react'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { longText, MAX_TEXT_LENGTH } from '../../src/core/fields/text.ts'
import { mergesEdits } from '../../src/core/fields/traits.ts'
import type { Field } from '../../src/core/model.ts'
import { cellText } from '../cells/index.ts'
import { m } from '../messages.gen.ts'
import { Button } from '../ui/button.tsx'
import { useTextHeight } from '../ui/effects.ts'
import { askInDialog } from '../ui/open-dialog.tsx'
import { Dialog } from '../ui/overlays.ts'
import { toast } from '../ui/toast.ts'
import { hasOverlap, type MergedPart, mergedText, mergeTexts } from './merge-texts.ts'
import styles from './resolve-conflict.module.css'
import type { Conflict, Resolution } from './types.ts'

/**
 * Settles two edits of one cell. Texts are merged, and the person is told; where both changed the same place, and for other
 * values, the person decides. Null: the other value stays.
 */
export async function resolveConflict(field: Field, conflict: Conflict): Promise<Resolution | null> {
  if (!mergesEdits(field)) return askKeepMine(field, conflict)
  const { opened, mine, theirs } = conflict
  const parts = mergeTexts(String(opened ?? ''), String(mine ?? ''), String(theirs ?? ''))
  const text = mergedText(parts, 'mine')
  if (hasOverlap(parts) || text.length > MAX_TEXT_LENGTH) return askForMerge(field, parts)
  toast.info({ text: m.records_edits_merged({ field: field.title }) })
  return text === theirs ? null : resolutionOf(text)
}

const resolutionOf = (text: string): Resolution => ({ value: text === '' ? null : text })

function askKeepMine(field: Field, { mine, theirs }: Conflict): Promise<Resolution | null> {
  const text = (value: CellValue): string => cellText(field, value) || m.common_empty()
  return askInDialog(
    (answer) => (
      <Dialog
        title={m.records_field_changed_someone_else({ field: field.title })}
        size="confirm"
        // Closing without an answer must not lose the input.
        closable={false}
        onClose={() => answer({ value: mine })}
        footer={
          <>
            <Button onClick={() => answer(null)}>{m.records_keep_theirs()}</Button>
            <Button variant="primary" data-autofocus onClick={() => answer({ value: mine })}>
              {m.records_keep_mine()}
            </Button>
          </>
        }
      >
        <p dir="auto">{m.records_yours_value({ value: text(mine) })}</p>
        <p dir="auto">{m.records_theirs_value({ value: text(theirs) })}</p>
      </Dialog>
    ),
    { value: mine },
  )
}

function askForMerge(field: Field, parts: readonly MergedPart[]): Promise<Resolution | null> {
  return askInDialog(
    (answer) => <MergeDialog field={field} parts={parts} onAnswer={(text) => answer(resolutionOf(text))} />,
    resolutionOf(mergedText(parts, 'mine')),
  )
}

interface MergeDialogProps {
  field: Field
  parts: readonly MergedPart[]
  onAnswer: (text: string) => void
}

/** Both versions side by side, with the places marked that both people changed, and the merged text to edit. */
function MergeDialog({ field, parts, onAnswer }: MergeDialogProps) {
  const [text, setText] = useState(() => mergedText(parts, 'both'))
  const area = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  useTextHeight(area, text, 240)
  const isValid = text === '' || longText.parse(text, { rich: false }) !== null
  return (
    <Dialog
      title={m.records_field_changed_someone_else({ field: field.title })}
      size="large"
      // Closing without an answer must not lose the input.
      closable={false}
      onClose={() => onAnswer(mergedText(parts, 'mine'))}
      footer={
        <>
          <Button onClick={() => onAnswer(mergedText(parts, 'theirs'))}>{m.records_keep_theirs()}</Button>
          <Button onClick={() => onAnswer(mergedText(parts, 'mine'))}>{m.records_keep_mine()}</Button>
          <Button variant="primary" disabled={!isValid} onClick={() => onAnswer(text)}>
            {m.records_save_merged_text()}
          </Button>
        </>
      }
    >
      <p>{m.records_both_changed_marked()}</p>
      <div className={styles.versions}>
        <Version title={m.records_your_version()} parts={parts} choice="mine" />
        <Version title={m.records_their_version()} parts={parts} choice="theirs" />
      </div>
      <label htmlFor={id} className={styles.label}>
        {m.records_merged_text()}
      </label>
      <textarea
        ref={area}
        id={id}
        className={styles.merged}
        dir="auto"
        value={text}
        aria-invalid={!isValid || undefined}
        data-autofocus
        onChange={(event) => setText(event.target.value)}
      />
      {!isValid && (
        <p role="alert" className={styles.invalid}>
          {m.cells_this_text_is_too_long()}
        </p>
      )}
    </Dialog>
  )
}

function Version(props: { title: string; parts: readonly MergedPart[]; choice: 'mine' | 'theirs' }) {
  const { title, parts, choice } = props
  return (
    <section className={styles.version} aria-label={title} data-testid={`version-${choice}`}>
      <h3>{title}</h3>
      <div className={styles.text} dir="auto">
        {parts.map((part, at) =>
          'text' in part ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change
            <span key={at}>{part.text}</span>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change
            <mark key={at}>{part[choice]}</mark>
          ),
        )}
      </div>
    </section>
  )
}
