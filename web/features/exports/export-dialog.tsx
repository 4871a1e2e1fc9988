import { type ReactNode, useRef, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { Alert } from '../../ui/alert.tsx'
import { showError } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { useIsMounted } from '../../ui/effects.ts'
import { SelectField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { toast } from '../../ui/toast.ts'
import styles from './export-dialog.module.css'
import { type ExportChoices, type ExportRun, type ExportSource, runExport } from './run-export.ts'

export interface ExportDialogProps {
  source: ExportSource
  onClose: () => void
}

interface Progress {
  done: number
  total: number | null
}

const START: ExportChoices = { format: 'csv', isGuarded: true, delimiter: ',', withHidden: false }

/** Format and options of an export, then its progress. */
export function ExportDialog({ source, onClose }: ExportDialogProps) {
  const [choices, setChoices] = useState(START)
  const change = (part: Partial<ExportChoices>) => setChoices((before) => ({ ...before, ...part }))
  const hiddenCount = source.allFieldIds.length - source.fieldIds.length
  return (
    <ExportRunDialog
      title={source.title}
      start={(onProgress) => runExport(source, choices, onProgress)}
      onClose={onClose}
    >
      <Choices choices={choices} change={change} hiddenCount={hiddenCount} source={source} />
    </ExportRunDialog>
  )
}

interface ExportRunDialogProps {
  /** What is exported. */
  title: string
  isReady?: boolean
  start: (onProgress: (done: number, total: number | null) => void) => ExportRun
  onClose: () => void
  /** The choices. */
  children: ReactNode
}

/** The choices of an export, then its progress, which can continue in the background. */
export function ExportRunDialog({ title, isReady = true, start, onClose, children }: ExportRunDialogProps) {
  const [progress, setProgress] = useState<Progress | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const run = useRef<ExportRun | null>(null)
  const isOpen = useIsMounted()

  async function carryOut() {
    if (run.current || !isReady) return
    setProblem(null)
    setProgress({ done: 0, total: null })
    run.current = start((done, total) => isOpen.current && setProgress({ done, total }))
    try {
      const file = await run.current.done
      if (isOpen.current) onClose()
      else if (file) toast.success({ text: m.exports_downloaded_name({ name: file.name }) })
      if (file?.textsCut) toast.warning({ text: m.exports_texts_cut({ count: file.textsCut }) })
    } catch (error) {
      if (isOpen.current) setProblem(messageOf(error))
      else showError(error)
    } finally {
      run.current = null
      if (isOpen.current) setProgress(null)
    }
  }

  return (
    <Dialog
      title={m.exports_download_title({ title })}
      onClose={onClose}
      onSubmit={() => void carryOut()}
      footer={
        progress ? (
          <>
            <Button
              onClick={() => {
                run.current?.cancel()
                onClose()
              }}
            >
              {m.exports_cancel_the_export()}
            </Button>
            <Button variant="primary" onClick={onClose}>
              {m.exports_continue_in_background()}
            </Button>
          </>
        ) : (
          <DialogButtons label={m.common_download()} disabled={!isReady} onClose={onClose} />
        )
      }
    >
      {progress ? <ExportProgress {...progress} /> : children}
      {problem !== null && <Alert tone="error">{problem}</Alert>}
    </Dialog>
  )
}

function Choices({
  choices,
  change,
  hiddenCount,
  source,
}: {
  choices: ExportChoices
  change: (part: Partial<ExportChoices>) => void
  hiddenCount: number
  source: ExportSource
}) {
  return (
    <div className={styles.choices}>
      <p className={styles.scope}>
        {source.recordIds
          ? m.exports_scope_selected({
              count: source.recordIds.length,
            })
          : m.exports_scope_view()}
      </p>
      <SelectField
        label={m.common_format()}
        data-autofocus
        value={choices.format}
        onChange={(event) => change({ format: event.target.value as ExportChoices['format'] })}
      >
        <option value="csv">{m.exports_csv()}</option>
        <option value="xlsx">{m.exports_excel_xlsx()}</option>
        <option value="json">{m.exports_json()}</option>
        <option value="ndjson">{m.exports_ndjson()}</option>
      </SelectField>
      {choices.format === 'csv' && <CsvChoices choices={choices} change={change} />}
      {hiddenCount > 0 && (
        <Checkbox
          checked={choices.withHidden}
          onChange={(withHidden) => change({ withHidden })}
          label={m.exports_include_hidden_fields_count({ count: hiddenCount })}
        />
      )}
    </div>
  )
}

type CsvOptions = Pick<ExportChoices, 'delimiter' | 'isGuarded'>

/** The options of CSV files. */
export function CsvChoices({
  choices,
  change,
}: {
  choices: CsvOptions
  change: (part: Partial<CsvOptions>) => void
}) {
  return (
    <>
      <SelectField
        label={m.exports_separator()}
        value={choices.delimiter}
        onChange={(event) => change({ delimiter: event.target.value as ExportChoices['delimiter'] })}
      >
        <option value=",">{m.exports_comma()}</option>
        <option value=";">{m.exports_semicolon()}</option>
        <option value={'\t'}>{m.exports_tab()}</option>
      </SelectField>
      <Checkbox
        checked={choices.isGuarded}
        onChange={(isGuarded) => change({ isGuarded })}
        label={m.exports_escape_formulas()}
        help={m.exports_escape_formulas_hint()}
      />
    </>
  )
}

function ExportProgress({ done, total }: Progress) {
  const text =
    total !== null
      ? m.exports_records_done({ done: done, total: total })
      : done > 0
        ? m.exports_records_written({ count: done })
        : m.exports_preparing()
  return (
    <div className={styles.progress}>
      <progress
        className={styles.bar}
        aria-label={m.common_export()}
        max={total ?? undefined}
        value={total ? done : undefined}
      />
      <p role="status">{text}</p>
    </div>
  )
}
