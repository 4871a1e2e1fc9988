import type { Analysis } from '../../../src/core/imports/analysis.ts'
import type { ChosenFormat } from '../../../src/core/imports/format.ts'

/** Samples of a file: its beginning, and slices spread over the rest. */
export interface FileSamples {
  head: ArrayBuffer
  /** Each starts at an even byte, so that UTF-16 code units stay whole. */
  slices: ArrayBuffer[]
  /** Size of the whole file in bytes. */
  size: number
}

/** Request to the worker, which detects the format options that `chosen` lacks. */
export interface AnalyseRequest {
  id: number
  samples: FileSamples
  chosen: ChosenFormat
}

/**
 * Why a file could not be read: of a kind that cannot be imported (`foreign`), not in the chosen or detected format
 * (`format`), or another error, which is worth a retry (`other`).
 */
export type AnalyseFault = 'foreign' | 'format' | 'other'

export type AnalyseReply =
  /** `analysis`: null for a file of a kind that the server reads. */
  | { id: number; ok: true; analysis: Analysis | null }
  | { id: number; ok: false; message: string; fault: AnalyseFault }

/** A file cannot be read; the message is localized. */
export class AnalyseError extends Error {
  override readonly name = 'AnalyseError'
  readonly fault: AnalyseFault

  constructor(message: string, fault: AnalyseFault) {
    super(message)
    this.fault = fault
  }
}
