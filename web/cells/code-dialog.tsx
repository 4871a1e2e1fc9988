import { Copy, Download } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { m } from '../messages.gen.ts'
import { Button } from '../ui/button.tsx'
import { copyText } from '../ui/copy-text.ts'
import { Dialog } from '../ui/overlays.ts'
import { toast } from '../ui/toast.ts'
import styles from './code.module.css'

/** Longer side of the downloaded image in pixels. */
const PICTURE_PX = 1024

interface CodeDialogProps {
  text: string
  /** Shown below the code if the code itself has no caption. */
  caption: string | null
  /** The code as an SVG. */
  picture: ReactNode
  /** The field's title. */
  title: string
  onClose: () => void
}

/** A large code to scan, copy or download. */
export function CodeDialog({ text, caption, picture, title, onClose }: CodeDialogProps): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const fileName = `${title} ${text}`.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80)
  const drawing = () => box.current?.querySelector('svg') ?? null

  async function copyPicture() {
    const svg = drawing()
    if (!svg) return
    // Pass a promise: Safari requires the write to start within the press.
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': pictureOf(svg) })])
    toast.success({ text: m.cells_image_copied() })
  }

  async function download(type: 'svg' | 'png') {
    const svg = drawing()
    if (!svg) return
    const file = type === 'svg' ? new Blob([sourceOf(svg)], { type: 'image/svg+xml' }) : await pictureOf(svg)
    const link = document.createElement('a')
    link.href = URL.createObjectURL(file)
    link.download = `${fileName}.${type}`
    link.click()
    // Revoke after the download has started.
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  }

  const failed = () => toast.error({ text: m.cells_image_create_failed() })
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button
            icon={Copy}
            onClick={async () => (await copyText(text)) && toast.success({ text: m.cells_text_copied() })}
          >
            {m.cells_copy_text()}
          </Button>
          <Button icon={Copy} onClick={() => copyPicture().catch(failed)}>
            {m.cells_copy_image()}
          </Button>
          <Button icon={Download} onClick={() => download('svg').catch(failed)}>
            SVG
          </Button>
          <Button icon={Download} variant="primary" onClick={() => download('png').catch(failed)}>
            PNG
          </Button>
        </>
      }
    >
      <div ref={box} className={styles.large} data-testid="code-large">
        {picture}
        {caption !== null && (
          <p className={styles.caption} dir="auto">
            {caption}
          </p>
        )}
      </div>
    </Dialog>
  )
}

const sourceOf = (svg: SVGElement): string => {
  const copy = svg.cloneNode(true) as SVGElement
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  copy.removeAttribute('class')
  return new XMLSerializer().serializeToString(copy)
}

/** The code as a PNG with a whole number of pixels per module, so that edges stay sharp. */
async function pictureOf(svg: SVGSVGElement): Promise<Blob> {
  const { width, height } = svg.viewBox.baseVal
  const scale = Math.max(1, Math.floor(PICTURE_PX / Math.max(width, height)))
  const image = new Image(width * scale, height * scale)
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(sized(sourceOf(svg), image))}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = image.width
  canvas.height = image.height
  canvas.getContext('2d')?.drawImage(image, 0, 0, image.width, image.height)
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('The canvas gave no picture'))),
      'image/png',
    ),
  )
}

/** Without explicit dimensions browsers rasterize the SVG at a default size and blur it. */
const sized = (source: string, { width, height }: { width: number; height: number }): string =>
  source.replace('<svg', `<svg width="${width}" height="${height}"`)
