import type { AnalysisMessage, TableAnalysis } from '../../../src/core/imports/analysis.ts'
import type { ChosenFormat } from '../../../src/core/imports/format.ts'
import { m } from '../../messages.gen.ts'
import { fetchSignedIn } from '../../session/index.ts'
import { AnalyseError } from './analysis.ts'

interface UploadOptions {
  chosen: ChosenFormat
  /** Undefined: the server decides by the size of the file. */
  readAll: boolean | undefined
}

/**
 * Analyses an uploaded file on the server, which finds its tables.
 * @param onRows gets the rows read so far
 * @throws AnalyseError where the file cannot be read
 */
export async function analyseUpload(
  uploadId: string,
  options: UploadOptions,
  { signal, onRows }: { signal: AbortSignal; onRows: (rows: number) => void },
): Promise<TableAnalysis[]> {
  const answer = await fetchSignedIn(`/api/internal/uploads/${uploadId}/analysis`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(options),
    signal,
  })
  if (!answer.ok || !answer.body) throw new Error(m.imports_uploaded_file_no_longer_available())
  for await (const message of messagesOf(answer.body)) {
    if (message.type === 'progress') onRows(message.rows)
    else if (message.type === 'done') return message.tables
    else throw new AnalyseError(message.message, message.isFinal ? 'foreign' : 'other')
  }
  throw new Error(m.imports_file_read_failed())
}

async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<AnalysisMessage> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      rest += decoder.decode(value, { stream: !done })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line) as AnalysisMessage
      if (done) return
    }
  } finally {
    await reader.cancel()
  }
}
