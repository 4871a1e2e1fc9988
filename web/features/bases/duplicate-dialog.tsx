import { useEffect, useRef, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { goTo, paths } from '../../routes/paths.ts'
import { api, cache } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.ts'
import { followJob } from '../sources/follow-job.ts'
import styles from './duplicate-dialog.module.css'

export interface DuplicateDialogProps {
  /** What is copied, by its name. */
  title: string
  /** Starts the copy. */
  start: (options: {
    title: string
    withData: boolean
    withViews: boolean
  }) => Promise<{ jobId: string; baseId: string }>
  onClose: () => void
}

/** Copies a base: asks what goes along, and opens the copy once it is there. */
export function DuplicateDialog({ title: original, start, onClose }: DuplicateDialogProps) {
  const [title, setTitle] = useState(() =>
    // A name has 255 characters at most, and the word around it is longer in some languages.
    t('{title} copy', { title: [...original].slice(0, 220).join('') }),
  )
  const [withData, setWithData] = useState(true)
  const [withViews, setWithViews] = useState(true)
  const [started, setStarted] = useState<{ jobId: string; baseId: string } | null>(null)
  const [isStarting, setIsStarting] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const isOpen = useRef(true)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
    }
  }, [])

  async function submit() {
    if (isStarting || started || title.trim() === '') return
    setIsStarting(true)
    setProblem(null)
    try {
      const copy = await start({ title: title.trim(), withData, withViews })
      setStarted(copy)
      const ended = await followJob(copy.jobId)
      void cache.bases.list.invalidate()
      if (ended) tellReady(copy.baseId)
      else if (isOpen.current) onClose()
    } catch (error) {
      if (isOpen.current) setProblem(messageOf(error))
      else toast.error({ text: messageOf(error) })
      setStarted(null)
    } finally {
      setIsStarting(false)
    }
  }

  async function cancel(jobId: string) {
    try {
      await api.jobs.cancel.mutate({ jobId })
    } catch (error) {
      setProblem(messageOf(error))
    }
  }

  /** Who waited is led to the copy; who went on working is told. */
  function tellReady(baseId: string) {
    const text = t('“{title}” is ready', { title: title.trim() })
    const open = () => goTo(paths.base(baseId))
    if (!isOpen.current) return toast.success({ text, action: { label: t('Open'), run: open } })
    onClose()
    open()
    toast.success({ text })
  }

  const isRunning = started !== null
  return (
    <Dialog
      title={t('Duplicate “{title}”', { title: original })}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        isRunning ? (
          <>
            <Button onClick={() => void cancel(started.jobId)}>{t('Cancel')}</Button>
            <Button variant="primary" onClick={onClose}>
              {t('Go on working')}
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>{t('Cancel')}</Button>
            <Button type="submit" variant="primary" busy={isStarting} disabled={title.trim() === ''}>
              {t('Duplicate')}
            </Button>
          </>
        )
      }
    >
      {isRunning ? (
        <p role="status" className={styles.text}>
          {t('The base is being copied. It appears in your list of bases when it is complete.')}
        </p>
      ) : (
        <div className={styles.form}>
          <TextField
            label={t('Name')}
            data-autofocus
            data-select-all
            maxLength={255}
            value={title}
            onChange={(event) => setTitle(event.target.value)}
            error={title.trim() === '' ? t('A base needs a name') : null}
          />
          <label className={styles.tick}>
            <input
              type="checkbox"
              checked={withData}
              onChange={(event) => setWithData(event.target.checked)}
            />
            {t('Records')}
          </label>
          <label className={styles.tick}>
            <input
              type="checkbox"
              checked={withViews}
              onChange={(event) => setWithViews(event.target.checked)}
            />
            {t('All views, not only the first of each table')}
          </label>
        </div>
      )}
      {problem !== null && <Alert tone="error">{problem}</Alert>}
    </Dialog>
  )
}
