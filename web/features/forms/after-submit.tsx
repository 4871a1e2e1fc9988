import { CircleCheck } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { redirectAddress } from '../../../src/core/views/form-answers.ts'
import { m } from '../../messages.gen.ts'
import { RichText } from '../../rich-text/rich-text.tsx'
import { Button } from '../../ui/button.tsx'
import styles from './form.module.css'
import type { FormRun } from './use-form-run.ts'

/** Delay before a new form is shown, for forms with `showBlankForm`. */
const BLANK_AFTER_SECONDS = 5

/** Message, redirect or new form after submission. `stays` suppresses the redirect, inside the app. */
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
          <h1 className="visually-hidden">{m.form_response_submitted()}</h1>
          <RichText text={options.successMessage} />
        </>
      ) : (
        <h1>{m.form_thank_response_submitted()}</h1>
      )}
      {target !== null ? (
        <Redirect target={target} seconds={options.redirectAfterSeconds} />
      ) : options.showBlankForm ? (
        <BlankSoon run={run} />
      ) : (
        (options.submitAnother || stays) && (
          <Button variant="primary" size="large" onClick={run.clear}>
            {m.form_submit_another_response()}
          </Button>
        )
      )}
    </div>
  )
}

/** Redirects after a countdown that the user can stop; names the host if it is another one. */
function Redirect({ target, seconds }: { target: URL; seconds: number }) {
  const [isStaying, setStaying] = useState(false)
  const isElsewhere = target.host !== location.host
  const left = useCountdown(isStaying ? null : seconds, () => location.assign(target.href))
  return (
    <>
      <p>
        {isStaying
          ? m.form_you_stay_here()
          : isElsewhere
            ? m.form_redirecting_to_host_in_seconds({ count: left, host: target.host })
            : m.form_redirecting_in_seconds({ count: left })}
      </p>
      <div className={styles.doneActions}>
        <a href={target.href} rel="noopener noreferrer">
          {isElsewhere ? m.form_go_to_host({ host: target.host }) : m.form_continue()}
        </a>
        {!isStaying && <Button onClick={() => setStaying(true)}>{m.form_stay_here()}</Button>}
      </div>
    </>
  )
}

function BlankSoon({ run }: { run: FormRun }) {
  const left = useCountdown(BLANK_AFTER_SECONDS, run.clear)
  return (
    <>
      <p>{m.form_new_form_opens_seconds({ count: left })}</p>
      <Button variant="primary" onClick={run.clear}>
        {m.form_submit_another_response()}
      </Button>
    </>
  )
}

/** Returns the remaining seconds and calls `onEnd` at zero; null pauses the countdown. */
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
