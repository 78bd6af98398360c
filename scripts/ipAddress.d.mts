export declare class Address4 {
  constructor(text: string);
  toArray(): number[];
}

export declare class Address6 {
  constructor(text: string);
  static fromByteArray(bytes: readonly number[]): Address6;
  canonicalForm(): string;
}
