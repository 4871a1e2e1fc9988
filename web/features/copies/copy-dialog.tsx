import { type ReactNode, useEffect, useRef, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { api } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { showError } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { toast } from '../../ui/toast.ts'
import { followJob } from '../sources/jobs.ts'
import styles from './copies.module.css'

/** A copy that the server is making. */
export interface StartedCopy {
  jobId: string
  /** Brings up to date what lists the copy, and gives the words to say then. */
  finish: () => Promise<string>
  /** Shows the copy; absent where it stands beside the original. */
  open?: () => void
}

export interface CopyDialogProps {
  /** What is copied, by its name. */
  title: string
  /** What is said while it is copied. */
  waiting: string
  /** False: what was chosen cannot be asked for. */
  isReady?: boolean
  start: () => Promise<StartedCopy>
  onClose: () => void
  /** What there is to choose. */
  children: ReactNode
}

/** How many records are copied of how many; a total of null is not known yet. */
interface Progress {
  done: number
  total: number | null
}

/** Asks what goes along with a copy, starts it, and shows how far it is; one may go on working meanwhile. */
export function CopyDialog({ title, waiting, isReady = true, start, onClose, children }: CopyDialogProps) {
  const [jobId, setJobId] = useState<string | null>(null)
  const [progress, setProgress] = useState<Progress>({ done: 0, total: null })
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
    if (isStarting || jobId !== null || !isReady) return
    setIsStarting(true)
    setProblem(null)
    try {
      const copy = await start()
      setJobId(copy.jobId)
      const ended = await followJob(copy.jobId, setProgress)
      if (ended) tellReady(copy, await copy.finish())
      else if (isOpen.current) onClose()
    } catch (error) {
      if (isOpen.current) setProblem(messageOf(error))
      else showError(error)
      setJobId(null)
    } finally {
      setIsStarting(false)
    }
  }

  /** Who waited is led to the copy; who went on working is told. */
  function tellReady({ open }: StartedCopy, text: string) {
    if (!isOpen.current) {
      toast.success({ text, ...(open && { action: { label: m.common_open(), run: open } }) })
      return
    }
    onClose()
    open?.()
    toast.success({ text })
  }

  return (
    <Dialog
      title={m.copies_duplicate_title({ title })}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        jobId !== null ? (
          <Running jobId={jobId} onProblem={setProblem} onClose={onClose} />
        ) : (
          <DialogButtons
            label={m.common_duplicate()}
            busy={isStarting}
            disabled={!isReady}
            onClose={onClose}
          />
        )
      }
    >
      <div className={styles.form}>
        {jobId !== null ? <CopyProgress text={waiting} {...progress} /> : children}
        {problem !== null && <Alert tone="error">{problem}</Alert>}
      </div>
    </Dialog>
  )
}

/** What can be done while the copy is made. */
function Running({
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

function CopyProgress({ text, done, total }: { text: string } & Progress) {
  return (
    <div className={styles.progress}>
      <p role="status" className={styles.text}>
        {text}
      </p>
      <progress aria-label={m.common_copy()} max={total ?? undefined} value={total ? done : undefined} />
      {total !== null && total > 0 && (
        <p className={styles.text}>{m.copies_records_done({ done: done, total: total })}</p>
      )}
    </div>
  )
}

/** Something that goes along or not. */
export function Tick({
  label,
  checked,
  onChange,
}: {
  label: string
  checked: boolean
  onChange: (checked: boolean) => void
}) {
  return (
    <label className={styles.tick}>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  )
}
