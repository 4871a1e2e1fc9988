import { Lock } from 'lucide-react'
import { useRef, useState } from 'react'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordField } from '../../ui/field.tsx'

export interface LinkPasswordProps {
  className: string | undefined
  title: string
  openLabel: string
  /** Why the last attempt failed; null at first. */
  problem: string | null
  onTry: (password: string) => Promise<void>
}

/** Asks for the password of a public link; selects a wrong one, to be typed over. */
export function LinkPassword({ className, title, openLabel, problem, onTry }: LinkPasswordProps) {
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  async function submit() {
    if (text === '' || isBusy) return
    setBusy(true)
    await onTry(text).finally(() => setBusy(false))
    input.current?.select()
  }
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Lock size={28} aria-hidden />
      <h1>{title}</h1>
      <PasswordField
        ref={input}
        label={m.common_password()}
        autoFocus
        autoComplete="off"
        value={text}
        error={problem}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" variant="primary" size="large" busy={isBusy}>
        {openLabel}
      </Button>
    </form>
  )
}
