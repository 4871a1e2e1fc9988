import { useRef, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { api, cache } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { showError } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { useIsMounted } from '../../ui/effects.ts'
import { Dialog } from '../../ui/overlays.ts'
import { toast } from '../../ui/toast.ts'
import { followJob } from '../sources/jobs.ts'
import styles from './base-file-dialog.module.css'
import { sourceOfFile } from './source.ts'
import { FileDrop } from './source-choice.tsx'
import { uploadSource } from './transfer.ts'

/** The result of the job. */
interface Imported {
  id: string
  title: string
  unknownPeople: string[]
  leftOut: { table: string; field: string; count: number; example: string }[]
}

type State =
  | { step: 'choosing' }
  | { step: 'sending'; sent: number; size: number; isOffline: boolean }
  | { step: 'reading'; rows: number }
  | { step: 'done'; result: Imported }

/** Opens a Sheaf file as a new base: the choice of the file, progress, and what was left out. */
export function BaseFileDialog({ onClose }: { onClose: () => void }) {
  const [state, setState] = useState<State>({ step: 'choosing' })
  const [problem, setProblem] = useState<string | null>(null)
  const [withHistory, setWithHistory] = useState(true)
  const controller = useRef<AbortController | null>(null)
  const jobId = useRef<string | null>(null)
  const isOpen = useIsMounted()
  const show = (next: State) => isOpen.current && setState(next)

  async function carryOut(file: File): Promise<void> {
    setProblem(null)
    const aborter = new AbortController()
    controller.current = aborter
    const { signal } = aborter
    let sending = { step: 'sending' as const, sent: 0, size: file.size, isOffline: false }
    const showSending = (patch: Partial<typeof sending>) => {
      sending = { ...sending, ...patch }
      show(sending)
    }
    show(sending)
    try {
      const uploadId = await uploadSource(sourceOfFile(file), {
        signal,
        onProgress: (sent) => showSending({ sent }),
        onLost: (isOffline) => showSending({ isOffline }),
      })
      const started = await api.baseFiles.import.mutate({ uploadId, withHistory })
      jobId.current = started.jobId
      // Cancelled while the server started it.
      if (signal.aborted) await api.jobs.cancel.mutate({ jobId: started.jobId })
      const ended = await followJob(started.jobId, ({ done }) => show({ step: 'reading', rows: done }))
      if (ended) finish(ended.result as Imported)
      else show({ step: 'choosing' })
    } catch (error) {
      show({ step: 'choosing' })
      if (signal.aborted) return
      if (isOpen.current) setProblem(messageOf(error))
      else showError(error)
    } finally {
      jobId.current = null
    }
  }

  function finish(result: Imported): void {
    void cache.bases.list.invalidate()
    const open = () => goTo(paths.base(result.id))
    const text = m.imports_base_file_ready({ title: result.title })
    if (!isOpen.current) {
      toast.success({ text, action: { label: m.common_open(), run: open } })
    } else if (result.leftOut.length === 0 && result.unknownPeople.length === 0) {
      onClose()
      open()
      toast.success({ text })
    } else setState({ step: 'done', result })
  }

  function cancel(): void {
    controller.current?.abort()
    // If this fails, the base appears when it is complete.
    if (jobId.current)
      api.jobs.cancel.mutate({ jobId: jobId.current }).catch((error) => console.warn('not cancelled', error))
    onClose()
  }

  return (
    <Dialog
      title={m.imports_base_file_title()}
      onClose={onClose}
      footer={
        state.step === 'done' ? (
          <Button
            variant="primary"
            onClick={() => {
              onClose()
              goTo(paths.base(state.result.id))
            }}
          >
            {m.imports_base_file_open()}
          </Button>
        ) : state.step === 'choosing' ? (
          <Button onClick={onClose}>{m.common_cancel()}</Button>
        ) : (
          <>
            <Button onClick={cancel}>{m.common_cancel()}</Button>
            <Button variant="primary" onClick={onClose}>
              {m.exports_continue_in_background()}
            </Button>
          </>
        )
      }
    >
      {state.step === 'choosing' ? (
        <>
          <FileDrop
            label={m.imports_base_file_drop()}
            button={m.imports_base_file_choose()}
            hint={m.imports_base_file_hint()}
            onFiles={([file]) => file && void carryOut(file)}
          />
          <div className={styles.options}>
            <Checkbox
              label={m.imports_base_file_with_history()}
              help={m.imports_base_file_with_history_hint()}
              checked={withHistory}
              onChange={setWithHistory}
            />
          </div>
        </>
      ) : state.step === 'done' ? (
        <LeftOut {...state.result} />
      ) : (
        <FileProgress state={state} />
      )}
      {problem !== null && (
        <div className={styles.problem}>
          <Alert tone="error">{problem}</Alert>
        </div>
      )}
    </Dialog>
  )
}

function FileProgress({ state }: { state: Extract<State, { step: 'sending' | 'reading' }> }) {
  const isSending = state.step === 'sending'
  const percent = isSending ? Math.floor((state.sent / Math.max(1, state.size)) * 100) : 0
  const sending =
    isSending && state.isOffline ? m.imports_upload_interrupted({ percent }) : m.imports_base_file_sending()
  return (
    <div className={styles.progress}>
      <progress
        aria-label={m.imports_base_file_title()}
        max={isSending ? state.size : undefined}
        value={isSending ? state.sent : undefined}
      />
      <p role="status">{isSending ? sending : m.exports_records_written({ count: state.rows })}</p>
    </div>
  )
}

function LeftOut({ title, leftOut, unknownPeople }: Imported) {
  const count = leftOut.reduce((sum, each) => sum + each.count, 0)
  return (
    <div className={styles.report}>
      <p role="status">{m.imports_base_file_ready({ title })}</p>
      {unknownPeople.length > 0 && (
        <p>{m.imports_base_file_unknown_people({ people: unknownPeople.join(', ') })}</p>
      )}
      {count > 0 && (
        <>
          <p>{m.imports_base_file_left_out({ count })}</p>
          <ul>
            {leftOut.map((each) => (
              <li key={`${each.table} ${each.field}`}>{m.imports_base_file_left_out_of({ ...each })}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
