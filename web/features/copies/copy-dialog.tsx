import { type ReactNode, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { api } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { showError } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { useIsMounted } from '../../ui/effects.ts'
import { Dialog } from '../../ui/overlays.ts'
import { toast } from '../../ui/toast.ts'
import { followJob } from '../sources/jobs.ts'
import styles from './copies.module.css'

/** A copy that is ready, with all that there is to say of it. */
interface Report extends Pick<StartedCopy, 'open'> {
  text: string
  remarks: readonly string[]
}

/** A running copy job. */
export interface StartedCopy {
  jobId: string
  /** Refreshes the caches that list the copy. @returns the text that reports it */
  finish: (result?: unknown) => Promise<string>
  /** Further texts about it, for which the dialog stays open. */
  remarks?: (result: unknown) => readonly string[]
  /** Called if it fails or is cancelled. */
  fail?: () => void
  /** Opens the copy; absent if it appears next to the original. */
  open?: () => void
}

export interface CopyDialogProps {
  /** Title of the original. */
  title: string
  /** Heading of the dialog; default: “Duplicate …”. */
  heading?: string
  /** Default: “Duplicate”. */
  submitLabel?: string
  /** Text next to the progress bar. */
  waiting: string
  /** Describes the progress; default: in records. */
  progressText?: (progress: { done: number; total: number }) => string
  /** False disables the submit button. */
  isReady?: boolean
  start: () => Promise<StartedCopy>
  onClose: () => void
  /** Fields of the form. */
  children: ReactNode
}

/** What is copied; `total` is null while unknown. */
export interface Progress {
  done: number
  total: number | null
}

/** Options of a copy, then its progress, which can continue in the background. */
export function CopyDialog({ isReady = true, start, onClose, children, ...texts }: CopyDialogProps) {
  const [jobId, setJobId] = useState<string | null>(null)
  const [progress, setProgress] = useState<Progress>({ done: 0, total: null })
  const [isStarting, setIsStarting] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [ended, setEnded] = useState<Report | null>(null)
  const isOpen = useIsMounted()

  async function submit() {
    if (isStarting || jobId !== null || !isReady) return
    setIsStarting(true)
    setProblem(null)
    let copy: StartedCopy | null = null
    try {
      copy = await start()
      setJobId(copy.jobId)
      const job = await followJob(copy.jobId, setProgress)
      if (job) {
        const { open, remarks } = copy
        const text = await copy.finish(job.result)
        tellReady({ text, remarks: remarks?.(job.result) ?? [], ...(open && { open }) })
      } else {
        copy.fail?.()
        if (isOpen.current) onClose()
      }
    } catch (error) {
      copy?.fail?.()
      if (isOpen.current) setProblem(messageOf(error))
      else showError(error)
      setJobId(null)
    } finally {
      setIsStarting(false)
    }
  }

  /** Opens the copy if the dialog is still open and there are no remarks; otherwise a message offers it. */
  function tellReady(report: Report) {
    const { text, remarks, open } = report
    if (!isOpen.current) {
      const action = open && { label: m.common_open(), run: open }
      const tell = remarks.length > 0 ? toast.warning : toast.success
      tell({ text: [text, ...remarks].join(' '), ...(action && { action }) })
      return
    }
    if (remarks.length > 0) {
      setEnded(report)
      return
    }
    onClose()
    open?.()
    toast.success({ text })
  }

  if (ended) return <Ended heading={texts.heading} {...ended} onClose={onClose} />

  return (
    <Dialog
      title={texts.heading ?? m.copies_duplicate_title({ title: texts.title })}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        jobId !== null ? (
          <Running jobId={jobId} onProblem={setProblem} onClose={onClose} />
        ) : (
          <DialogButtons
            label={texts.submitLabel ?? m.common_duplicate()}
            busy={isStarting}
            disabled={!isReady}
            onClose={onClose}
          />
        )
      }
    >
      <div className={styles.form}>
        {jobId !== null ? (
          <CopyProgress text={texts.waiting} describe={texts.progressText} {...progress} />
        ) : (
          children
        )}
        {problem !== null && <Alert tone="error">{problem}</Alert>}
      </div>
    </Dialog>
  )
}

/** What there is to say of a copy that is ready. */
function Ended({
  heading,
  text,
  remarks,
  open,
  onClose,
}: Report & Pick<CopyDialogProps, 'heading' | 'onClose'>) {
  return (
    <Dialog
      title={heading ?? text}
      onClose={onClose}
      onSubmit={() => {
        onClose()
        open?.()
      }}
      footer={
        <>
          <Button onClick={onClose}>{m.common_close()}</Button>
          {open && (
            <Button type="submit" variant="primary">
              {m.common_open()}
            </Button>
          )}
        </>
      }
    >
      <div className={styles.form}>
        <p role="status" className={styles.text}>
          {text}
        </p>
        {remarks.map((remark) => (
          <Alert key={remark}>{remark}</Alert>
        ))}
      </div>
    </Dialog>
  )
}

/** Buttons while the copy runs. */
export function Running({
  jobId,
  onProblem,
  onClose,
}: {
  jobId: string
  onProblem: (text: string) => void
  onClose: () => void
}) {
  const [isCancelling, setIsCancelling] = useState(false)
  async function cancel() {
    setIsCancelling(true)
    try {
      await api.jobs.cancel.mutate({ jobId })
    } catch (error) {
      setIsCancelling(false)
      onProblem(messageOf(error))
    }
  }
  return (
    <>
      <Button busy={isCancelling} onClick={() => void cancel()}>
        {m.common_cancel()}
      </Button>
      <Button variant="primary" onClick={onClose}>
        {m.copies_continue_in_background()}
      </Button>
    </>
  )
}

export function CopyProgress({
  text,
  describe = m.copies_records_done,
  done,
  total,
}: { text: string; describe?: CopyDialogProps['progressText'] } & Progress) {
  return (
    <div className={styles.progress}>
      <p role="status" className={styles.text}>
        {text}
      </p>
      <progress aria-label={m.common_copy()} max={total ?? undefined} value={total ? done : undefined} />
      {total !== null && total > 0 && <p className={styles.text}>{describe({ done, total })}</p>}
    </div>
  )
}
