import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** An encrypted secret, and which key encrypted it. */
export interface SealedSecret {
  readonly keyId: string;
  /** Base64 of nonce, tag and ciphertext. */
  readonly box: string;
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Of a hash of the key: tells keys apart, and reveals nothing of them. */
const ID_BYTES = 4;

/** Encrypts secrets that are stored, with AES-256-GCM. */
export class SecretBox {
  private readonly keys: ReadonlyMap<string, Buffer>;
  private readonly currentId: string;

  /** @param keys of 32 bytes each: the first encrypts, the others only decrypt what they have encrypted */
  constructor(keys: readonly Buffer[]) {
    this.keys = new Map(keys.map((key) => [idOf(key), key]));
    this.currentId = this.keyIds[0] ?? '';
  }

  /** The current one first. */
  get keyIds(): readonly string[] {
    return [...this.keys.keys()];
  }

  has(keyId: string): boolean {
    return this.keys.has(keyId);
  }

  /** @param owner what the secret belongs to: it can be opened only for the same owner */
  seal(secret: Buffer, owner: string): SealedSecret {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key(this.currentId), nonce).setAAD(Buffer.from(owner));
    const encrypted = Buffer.concat([cipher.update(secret), cipher.final()]);
    return {
      keyId: this.currentId,
      box: Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64'),
    };
  }

  /** @throws Error when this process does not have the key, or the box was changed or belongs to another owner */
  open({ keyId, box }: SealedSecret, owner: string): Buffer {
    const bytes = Buffer.from(box, 'base64');
    const decipher = createDecipheriv(ALGORITHM, this.key(keyId), bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(Buffer.from(owner))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  }

  private key(id: string): Buffer {
    const key = this.keys.get(id);
    if (key === undefined) throw new Error(`SECRETS_KEY does not contain the key ${id}.`);
    return key;
  }
}

function idOf(key: Buffer): string {
  return createHash('sha256').update('sluice secrets key:').update(key).digest().subarray(0, ID_BYTES).toString('hex');
}
