import { useEffect, useRef, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { formatNumber, t } from '../../i18n.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
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

/** How the records on the screen are written to a file; then how far that is. */
export function ExportDialog({ source, onClose }: ExportDialogProps) {
  const [choices, setChoices] = useState(START)
  const [progress, setProgress] = useState<Progress | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const run = useRef<ExportRun | null>(null)
  const isOpen = useRef(true)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
    }
  }, [])
  const change = (part: Partial<ExportChoices>) => setChoices((before) => ({ ...before, ...part }))
  const hiddenCount = source.allFieldIds.length - source.fieldIds.length

  async function start() {
    if (run.current) return
    setProblem(null)
    setProgress({ done: 0, total: null })
    run.current = runExport(source, choices, (done, total) => isOpen.current && setProgress({ done, total }))
    try {
      const name = await run.current.done
      if (isOpen.current) onClose()
      else if (name !== null) toast.success({ text: t('Downloaded “{name}”', { name }) })
    } catch (error) {
      if (isOpen.current) setProblem(messageOf(error))
      else toast.error({ text: messageOf(error) })
    } finally {
      run.current = null
      if (isOpen.current) setProgress(null)
    }
  }

  return (
    <Dialog
      title={t('Download “{title}”', { title: source.title })}
      onClose={onClose}
      onSubmit={() => void start()}
      footer={
        progress ? (
          <>
            <Button
              onClick={() => {
                run.current?.cancel()
                onClose()
              }}
            >
              {t('Cancel the export')}
            </Button>
            <Button variant="primary" onClick={onClose}>
              {t('Continue in background')}
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>{t('Cancel')}</Button>
            <Button type="submit" variant="primary">
              {t('Download')}
            </Button>
          </>
        )
      }
    >
      {progress ? (
        <ExportProgress {...progress} />
      ) : (
        <Choices choices={choices} change={change} hiddenCount={hiddenCount} source={source} />
      )}
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
          ? t('Exports the {count} selected records with the fields of this view.', {
              count: formatNumber(source.recordIds.length),
            })
          : t('Exports this view’s records with its current filter, sort and fields.')}
      </p>
      <SelectField
        label={t('Format')}
        data-autofocus
        value={choices.format}
        onChange={(event) => change({ format: event.target.value as ExportChoices['format'] })}
      >
        <option value="csv">{t('CSV')}</option>
        <option value="xlsx">{t('Excel (.xlsx)')}</option>
        <option value="json">{t('JSON')}</option>
      </SelectField>
      {choices.format === 'csv' && (
        <>
          <SelectField
            label={t('Separator')}
            value={choices.delimiter}
            onChange={(event) => change({ delimiter: event.target.value as ExportChoices['delimiter'] })}
          >
            <option value=",">{t('Comma ,')}</option>
            <option value=";">{t('Semicolon ;')}</option>
            <option value={'\t'}>{t('Tab')}</option>
          </SelectField>
          <Tick
            checked={choices.isGuarded}
            onChange={(isGuarded) => change({ isGuarded })}
            label={t('Escape formulas')}
            help={t(
              "Adds a ' before text that looks like a formula, so spreadsheets don’t run it. Importing the file here removes it again.",
            )}
          />
        </>
      )}
      {hiddenCount > 0 && (
        <Tick
          checked={choices.withHidden}
          onChange={(withHidden) => change({ withHidden })}
          label={t('Include hidden fields ({count})', { count: formatNumber(hiddenCount) })}
        />
      )}
    </div>
  )
}

function Tick({
  label,
  help,
  checked,
  onChange,
}: {
  label: string
  help?: string
  checked: boolean
  onChange: (checked: boolean) => void
}) {
  return (
    <label className={styles.tick}>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span>
        {label}
        {help && <small className={styles.help}>{help}</small>}
      </span>
    </label>
  )
}

function ExportProgress({ done, total }: Progress) {
  const text =
    total === null
      ? t('Preparing…')
      : t('{done} of {total} records', { done: formatNumber(done), total: formatNumber(total) })
  return (
    <div className={styles.progress}>
      <progress
        className={styles.bar}
        aria-label={t('Export')}
        max={total ?? undefined}
        value={total ? done : undefined}
      />
      <p role="status">{text}</p>
    </div>
  )
}
