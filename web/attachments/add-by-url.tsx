import { type KeyboardEvent, useState } from 'react'
import { isWebAddress } from '../../src/core/fields/attachment-item.ts'
import { m } from '../messages.gen.ts'
import { Button } from '../ui/button.tsx'
import { focusOnMount } from '../ui/composite.tsx'
import styles from './add-by-url.module.css'

/** Asks for the address of a file, which the server then fetches. */
export function AddByUrl({ onAdd, onCancel }: { onAdd: (url: string) => void; onCancel: () => void }) {
  const [url, setUrl] = useState('')
  const [isRefused, setRefused] = useState(false)
  const add = () => {
    const address = url.trim()
    if (isWebAddress(address)) onAdd(address)
    else setRefused(true)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      event.preventDefault()
      add()
    }
    if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      onCancel()
    }
  }
  return (
    <div className={styles.box}>
      <div className={styles.line}>
        <input
          ref={focusOnMount}
          type="url"
          className={styles.input}
          placeholder="https://"
          aria-label={m.attachments_file_url()}
          aria-invalid={isRefused || undefined}
          value={url}
          onChange={(event) => {
            setUrl(event.target.value)
            setRefused(false)
          }}
          onKeyDown={onKeyDown}
        />
        <Button size="small" variant="primary" onClick={add}>
          {m.common_add()}
        </Button>
      </div>
      {isRefused && (
        <p className={styles.message} role="alert">
          {m.attachments_enter_url_starts_http_https()}
        </p>
      )}
    </div>
  )
}
