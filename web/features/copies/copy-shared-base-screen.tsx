import { Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { appCodeOf, messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { useSearch } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { api, cache } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { PasswordField } from '../../ui/field.tsx'
import { Main } from '../../ui/main.tsx'
import { toast } from '../../ui/toast.ts'
import { hasEnded, useJob } from '../sources/jobs.ts'
import styles from './copies.module.css'

/** Copies a shared base into the user's bases (spec §2). */
export function CopySharedBaseScreen() {
  const { base: shareId = '' } = useSearch()
  const [withData, setWithData] = useState(true)
  const [password, setPassword] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isStarting, setIsStarting] = useState(false)
  const [started, setStarted] = useState<{ jobId: string; baseId: string } | null>(null)
  const job = useJob(started?.jobId ?? null)
  useDocumentTitle(m.copies_copy_a_shared_base())

  useEffect(() => {
    if (!job || !started || !hasEnded(job)) return
    if (job.status === 'completed') {
      void cache.bases.list.invalidate()
      goTo(paths.base(started.baseId), { replace: true })
      toast.success({ text: m.copies_base_copied() })
      return
    }
    setStarted(null)
    setProblem(job.error ?? m.copies_base_copy_failed())
  }, [job, started])

  async function submit() {
    if (isStarting || started) return
    setIsStarting(true)
    setProblem(null)
    try {
      setStarted(
        await api.copies.sharedBase.mutate({ shareId, password, options: { withData, withViews: true } }),
      )
    } catch (error) {
      if (appCodeOf(error) === 'INVALID_SHARED_VIEW_PASSWORD') {
        setProblem(password === null ? null : m.common_incorrect_password())
        setPassword(password ?? '')
      } else if (appCodeOf(error) === 'BASE_NOT_FOUND') {
        setProblem(m.copies_link_invalid())
      } else setProblem(messageOf(error))
    } finally {
      setIsStarting(false)
    }
  }

  return (
    <Main className={styles.page}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <Copy size={28} aria-hidden />
        <h1 className={styles.heading}>{m.copies_copy_a_shared_base()}</h1>
        <p className={styles.text}>{m.copies_copy_shared_base_hint()}</p>
        <Checkbox label={m.common_records()} checked={withData} onChange={setWithData} />
        {password !== null && (
          <PasswordField
            label={m.common_password()}
            autoFocus
            autoComplete="off"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
        {problem !== null && <Alert tone="error">{problem}</Alert>}
        <div className={styles.buttons}>
          <Button onClick={() => goTo(paths.bases())}>{m.common_cancel()}</Button>
          <Button type="submit" variant="primary" busy={isStarting || started !== null}>
            {m.copies_copy_to_my_bases()}
          </Button>
        </div>
      </form>
    </Main>
  )
}
