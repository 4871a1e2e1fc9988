import { Check, Code, Copy, ExternalLink, QrCode, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { QrPicture } from '../../cells/qr-picture.tsx'
import { m } from '../../messages.gen.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy-text.ts'
import { toast } from '../../ui/toast.ts'
import styles from './share-dialog.module.css'
import { embedCode } from './visitor-page.ts'

export interface ShareLinkProps {
  address: string
  /** Title of the shared view or base. */
  title: string
  onRegenerate: () => void
}

/** A URL to copy, open, embed or show as a QR code. */
export function ShareLink({ address, title, onRegenerate }: ShareLinkProps) {
  const [shown, setShown] = useState<'qr' | 'embed' | null>(null)
  const toggles = [
    { panel: 'embed', icon: Code, label: m.shares_embed() },
    { panel: 'qr', icon: QrCode, label: m.shares_qr_code() },
  ] as const
  return (
    <div className={styles.linkBox}>
      <div className={styles.link}>
        <input
          readOnly
          dir="ltr"
          className={styles.address}
          aria-label={m.shares_public_link()}
          data-testid="share-address"
          value={address}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={address} />
      </div>
      <div className={styles.tools}>
        <a className={styles.open} href={address} target="_blank" rel="noreferrer">
          <ExternalLink size={14} aria-hidden />
          {m.common_open()}
        </a>
        {toggles.map(({ panel, icon, label }) => (
          <Button
            key={panel}
            size="small"
            variant="ghost"
            icon={icon}
            aria-expanded={shown === panel}
            onClick={() => setShown(shown === panel ? null : panel)}
          >
            {label}
          </Button>
        ))}
        <IconButton
          icon={RefreshCw}
          iconSize={14}
          size="small"
          label={m.shares_reset_link()}
          onClick={onRegenerate}
        />
      </div>
      {shown === 'qr' && (
        <div className={styles.qr}>
          <QrPicture text={address} />
        </div>
      )}
      {shown === 'embed' && (
        <div className={styles.embed}>
          <textarea
            readOnly
            dir="ltr"
            rows={3}
            aria-label={m.shares_embed_code()}
            value={embedCode(address, title)}
            onFocus={(event) => event.currentTarget.select()}
          />
          <CopyButton text={embedCode(address, title)} />
        </div>
      )}
    </div>
  )
}

/** Button that copies a text. */
export function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState(false)
  return (
    <Button
      size="small"
      icon={copied ? Check : Copy}
      onClick={async () => {
        if (!(await copyText(text))) return
        toast.success({ text: m.common_copied() })
        setCopied(true)
        setTimeout(() => setCopied(false), 1500) // spec §9, clipboard copied flag
      }}
    >
      {m.common_copy()}
    </Button>
  )
}
