import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { m } from '../../messages.gen.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy-text.ts'
import styles from './account.module.css'

/** A text to hand on, such as a token that was just made: the only time that it can be read. */
export function FreshToken({ token, note }: { token: string; note?: string }) {
  const [copied, setCopied] = useState(false)
  return (
    <Alert>
      <p>{note ?? m.account_copy_token_now_wont_able()}</p>
      <div className={styles.fresh}>
        <code>{token}</code>
        <Button
          size="small"
          icon={copied ? Check : Copy}
          onClick={async () => setCopied(await copyText(token))}
        >
          {copied ? m.common_copied() : m.common_copy()}
        </Button>
      </div>
    </Alert>
  )
}
