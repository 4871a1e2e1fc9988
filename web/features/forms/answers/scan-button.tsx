import { ScanLine } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { parseValue } from '../../../../src/core/fields/read.ts'
import { m } from '../../../messages.gen.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/overlays.ts'
import type { AnswerProps } from './answer.ts'

/** The Barcode Detection API, missing from TypeScript's DOM types. */
interface CodeReader {
  detect(source: HTMLVideoElement): Promise<{ rawValue: string }[]>
}
declare const BarcodeDetector: new () => CodeReader

/** Interval between two scans of the camera image. */
const SCAN_INTERVAL_MS = 200

/** Scans a bar code or QR code with the camera and sets its text as the answer. */
export function ScanButton({ question: { field }, run }: Pick<AnswerProps, 'question' | 'run'>) {
  const [isOpen, setOpen] = useState(false)
  const [unfit, setUnfit] = useState<string | null>(null)
  const take = (text: string) => {
    const value = parseValue(field, text)
    setUnfit(value === null ? text : null)
    if (value === null) return
    run.set(field.id, value)
    run.leave(field.id)
    setOpen(false)
  }
  return (
    <>
      <Button icon={ScanLine} onClick={() => setOpen(true)}>
        {m.form_scan_a_code()}
      </Button>
      {isOpen && (
        <Dialog title={m.form_scan_a_code()} onClose={() => setOpen(false)}>
          <Camera onRead={take} />
          <p role="status">
            {unfit === null
              ? m.form_hold_code_front_camera()
              : m.form_text_not_valid_answer_scan({ text: unfit.slice(0, 100) })}
          </p>
        </Dialog>
      )}
    </>
  )
}

function Camera({ onRead }: { onRead: (text: string) => void }) {
  const video = useRef<HTMLVideoElement>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const read = useRef(onRead)
  read.current = onRead
  useEffect(() => {
    let isOver = false
    let stream: MediaStream | null = null
    const look = async () => {
      const reader = new BarcodeDetector()
      while (!isOver) {
        const element = video.current
        const found =
          element && element.readyState >= element.HAVE_CURRENT_DATA ? await reader.detect(element) : []
        const text = found[0]?.rawValue
        if (text && !isOver) read.current(text)
        await new Promise((resolve) => setTimeout(resolve, SCAN_INTERVAL_MS))
      }
    }
    navigator.mediaDevices
      .getUserMedia({ video: { facingMode: 'environment' } })
      .then(async (opened) => {
        stream = opened
        if (isOver || !video.current) return
        video.current.srcObject = opened
        await video.current.play()
        await look()
      })
      .catch(() => !isOver && setFailure(m.form_camera_access_blocked_allow_browser()))
      .finally(() => isOver && stop(stream))
    return () => {
      isOver = true
      stop(stream)
    }
  }, [])
  if (failure !== null) return <p role="alert">{failure}</p>
  return <video ref={video} muted playsInline style={{ inlineSize: '100%' }} />
}

function stop(stream: MediaStream | null): void {
  for (const track of stream?.getTracks() ?? []) track.stop()
}
