import { type Read, readFail } from './field-type.ts'

/** The answer of every type that the server alone fills. */
export const readNothing = (): Read => readFail('This field is filled in by the system')
