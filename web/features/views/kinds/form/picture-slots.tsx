import { ImagePlus, ImageUp, X } from 'lucide-react'
import { useRef, useState } from 'react'
import { sendFile } from '../../../../attachments/send-file.ts'
import { messageOf } from '../../../../errors.ts'
import { m } from '../../../../messages.gen.ts'
import { api } from '../../../../trpc.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { openDialog } from '../../../../ui/open-dialog.tsx'
import { toast } from '../../../../ui/toast.ts'
import formStyles from '../../../forms/form.module.css'
import type { FormSource } from '../../../forms/form-source.ts'
import styles from './builder.module.css'
import { CropDialog, type CropShape } from './crop-dialog.tsx'
import type { FormBuilder } from './use-form-builder.ts'

const SHAPES = {
  banner: { width: 1600, height: 400 },
  logo: { width: 400, height: 400 },
} as const satisfies Record<string, CropShape>

/** Banner and logo of a form: upload, crop, replace and remove. */
export function PictureSlots({
  builder: { options, change },
  pictures,
  tableId,
}: {
  builder: FormBuilder
  pictures: FormSource['pictures']
  tableId: string
}) {
  const hasBanner = !options.hideBanner && options.bannerPath !== null
  return (
    <>
      {hasBanner && (
        <div className={`${formStyles.banner} ${styles.picture}`}>
          {pictures.banner && <img src={pictures.banner} alt={m.form_banner()} />}
          <PictureTools
            kind="banner"
            tableId={tableId}
            onChange={(bannerPath) => change({ bannerPath })}
            isSet
          />
        </div>
      )}
      {options.logoPath !== null && (
        <div className={`${formStyles.logo} ${styles.picture}`} data-over={hasBanner || undefined}>
          {pictures.logo && <img src={pictures.logo} alt={m.form_logo()} />}
          <PictureTools kind="logo" tableId={tableId} onChange={(logoPath) => change({ logoPath })} isSet />
        </div>
      )}
      {(options.logoPath === null || (!options.hideBanner && options.bannerPath === null)) && (
        <div className={styles.slots}>
          {!options.hideBanner && options.bannerPath === null && (
            <PictureTools kind="banner" tableId={tableId} onChange={(bannerPath) => change({ bannerPath })} />
          )}
          {options.logoPath === null && (
            <PictureTools kind="logo" tableId={tableId} onChange={(logoPath) => change({ logoPath })} />
          )}
        </div>
      )}
    </>
  )
}

function PictureTools(props: {
  kind: keyof typeof SHAPES
  tableId: string
  isSet?: boolean
  onChange: (path: string | null) => void
}) {
  const { kind, tableId, isSet = false, onChange } = props
  const input = useRef<HTMLInputElement>(null)
  const [isBusy, setBusy] = useState(false)
  const send = async (picture: Blob) => {
    setBusy(true)
    try {
      const file = new File([picture], `${kind}.png`, { type: picture.type })
      const sending = { signal: new AbortController().signal, onProgress: () => {} }
      const { path } = await sendFile({ file }, sending)
      if (path === undefined) throw new Error(m.form_file_upload_failed())
      await api.records.keepPicture.mutate({ tableId, path })
      onChange(path)
    } catch (error) {
      toast.error({ text: messageOf(error) })
    } finally {
      setBusy(false)
    }
  }
  const choose = (file: File | undefined) => {
    if (!file) return
    openDialog((close) => (
      <CropDialog
        file={file}
        shape={SHAPES[kind]}
        title={kind === 'banner' ? m.form_crop_banner() : m.form_crop_logo()}
        onClose={close}
        onDone={(picture) => {
          close()
          void send(picture)
        }}
      />
    ))
  }
  return (
    <span className={isSet ? styles.pictureTools : undefined}>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif,image/avif"
        className="visually-hidden"
        tabIndex={-1}
        aria-hidden
        data-testid={`${kind}-file`}
        onChange={(event) => {
          choose(event.target.files?.[0])
          event.target.value = ''
        }}
      />
      {isSet ? (
        <>
          <Button size="small" icon={ImageUp} busy={isBusy} onClick={() => input.current?.click()}>
            {kind === 'banner' ? m.form_change_banner() : m.form_change_logo()}
          </Button>
          <IconButton
            icon={X}
            size="small"
            label={kind === 'banner' ? m.form_remove_banner() : m.form_remove_logo()}
            onClick={() => onChange(null)}
          />
        </>
      ) : (
        <Button
          size="small"
          variant="ghost"
          icon={ImagePlus}
          busy={isBusy}
          onClick={() => input.current?.click()}
        >
          {kind === 'banner' ? m.form_add_banner() : m.form_add_logo()}
        </Button>
      )}
    </span>
  )
}
