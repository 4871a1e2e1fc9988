import { useState } from 'react'
import { CUSTOM_ADDRESS, type Share } from '../../../src/core/shares.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { addressPrefix } from './share-address.ts'
import styles from './share-dialog.module.css'
import type { ShareChange } from './use-share.ts'

export interface SharingAddressProps {
  /** The whole address. */
  address: string
  share: Pick<Share, 'id'>
  onSave: (patch: ShareChange) => Promise<void>
}

/** The last part of a link, as somebody wants it to be. */
export function SharingAddress({ address, share, onSave }: SharingAddressProps) {
  const [text, setText] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const wanted = text ?? share.id
  const isChanged = wanted !== share.id

  async function save() {
    if (!isChanged || isBusy) return
    if (!CUSTOM_ADDRESS.test(wanted)) {
      setProblem(m.shares_custom_url_rule())
      return
    }
    setIsBusy(true)
    try {
      await onSave({ id: wanted })
      setText(null)
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setIsBusy(false)
    }
  }

  return (
    <form
      className={styles.saving}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <TextField
        label={m.shares_custom_url()}
        dir="ltr"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={64}
        value={wanted}
        error={problem}
        help={
          isChanged ? (
            <span dir="ltr">
              {addressPrefix(address, share.id)}
              {wanted}
            </span>
          ) : undefined
        }
        onChange={(event) => {
          setText(event.target.value.trim())
          setProblem(null)
        }}
      />
      {isChanged && (
        <div className={styles.buttons}>
          <Button size="small" type="submit" variant="primary" busy={isBusy}>
            {m.common_save()}
          </Button>
          <Button
            size="small"
            onClick={() => {
              setText(null)
              setProblem(null)
            }}
          >
            {m.common_cancel()}
          </Button>
        </div>
      )}
    </form>
  )
}
