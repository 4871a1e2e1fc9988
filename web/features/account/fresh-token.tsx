import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../i18n.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy-text.ts'
import styles from './account.module.css'

/** A text to hand on, such as a token that was just made: the only time that it can be read. */
export function FreshToken({ token, note }: { token: string; note?: string }) {
  const [copied, setCopied] = useState(false)
  return (
    <Alert>
      <p>{note ?? t('Copy the token now. You won’t be able to see it again.')}</p>
      <div className={styles.fresh}>
        <code>{token}</code>
        <Button
          size="small"
          icon={copied ? Check : Copy}
          onClick={async () => setCopied(await copyText(token))}
        >
          {copied ? t('Copied') : t('Copy')}
        </Button>
      </div>
    </Alert>
  )
}
