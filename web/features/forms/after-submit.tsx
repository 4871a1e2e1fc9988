import { CircleCheck } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { redirectAddress } from '../../../src/core/views/form-answers.ts'
import { t, tn } from '../../i18n.ts'
import { RichText } from '../../rich-text/rich-text.tsx'
import { Button } from '../../ui/button.tsx'
import styles from './form.module.css'
import type { FormRun } from './use-form-run.ts'

/** Seconds after which an empty form stands again, where the form says so. */
const BLANK_AFTER_SECONDS = 5

/** What follows answers that were sent: thanks, the way on, or the next form. `stays`: within the app nothing leads away. */
export function AfterSubmit({ run, stays = false }: { run: FormRun; stays?: boolean }) {
  const { options, status } = run
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [])
  const recordId = status.kind === 'done' ? status.submitted.recordId : null
  const target = stays ? null : redirectAddress(options.redirectUrl, recordId)
  return (
    <div ref={box} className={styles.done} role="status" tabIndex={-1} data-testid="form-done">
      <CircleCheck size={40} aria-hidden className={styles.tick} />
      {options.successMessage ? (
        <>
          <h1 className="visually-hidden">{t('Response submitted')}</h1>
          <RichText text={options.successMessage} />
        </>
      ) : (
        <h1>{t('Thank you! Your response was submitted.')}</h1>
      )}
      {target !== null ? (
        <Redirect target={target} seconds={options.redirectAfterSeconds} />
      ) : options.showBlankForm ? (
        <BlankSoon run={run} />
      ) : (
        (options.submitAnother || stays) && (
          <Button variant="primary" size="large" onClick={run.clear}>
            {t('Submit another response')}
          </Button>
        )
      )}
    </div>
  )
}

/** Goes on by itself; to another host only with its name in sight, and with a way to stay. */
function Redirect({ target, seconds }: { target: URL; seconds: number }) {
  const [isStaying, setStaying] = useState(false)
  const isElsewhere = target.host !== location.host
  const left = useCountdown(isStaying ? null : seconds, () => location.assign(target.href))
  return (
    <>
      <p>
        {isStaying
          ? t('You stay here.')
          : isElsewhere
            ? tn('Redirecting to {host} in 1 second.', 'Redirecting to {host} in {n} seconds.', left, {
                host: target.host,
              })
            : tn('Redirecting in 1 second.', 'Redirecting in {n} seconds.', left)}
      </p>
      <div className={styles.doneActions}>
        <a href={target.href} rel="noopener noreferrer">
          {isElsewhere ? t('Go to {host}', { host: target.host }) : t('Continue')}
        </a>
        {!isStaying && <Button onClick={() => setStaying(true)}>{t('Stay here')}</Button>}
      </div>
    </>
  )
}

function BlankSoon({ run }: { run: FormRun }) {
  const left = useCountdown(BLANK_AFTER_SECONDS, run.clear)
  return (
    <>
      <p>{tn('A new form opens in 1 second.', 'A new form opens in {n} seconds.', left)}</p>
      <Button variant="primary" onClick={run.clear}>
        {t('Submit another response')}
      </Button>
    </>
  )
}

/** Seconds that are left; null stops the clock. */
function useCountdown(seconds: number | null, onEnd: () => void): number {
  const [left, setLeft] = useState(seconds ?? 0)
  const end = useRef(onEnd)
  end.current = onEnd
  const isRunning = seconds !== null
  useEffect(() => {
    if (!isRunning) return
    if (left <= 0) {
      end.current()
      return
    }
    const timer = setTimeout(() => setLeft(left - 1), 1000)
    return () => clearTimeout(timer)
  }, [isRunning, left])
  return left
}
