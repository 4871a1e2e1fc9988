import { z } from 'zod'

/** A boolean; some clients send 0 and 1 (wire §1.4). */
export const wireFlag = z.union([z.boolean(), z.literal(0), z.literal(1)]).transform(Boolean)
